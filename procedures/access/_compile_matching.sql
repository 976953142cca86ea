-- howdah._compile_matching(p_resource, p_name): howdah._compile_rights at all destinations that a rule covers.
--
-- Role     internal
--
-- p_name NULL: at every destination. An ended temporary queue is used again, and is compiled with the others.
create or replace function howdah._compile_matching(p_resource text, p_name text) returns void
language sql volatile
as $$
    select howdah._compile_rights(array(
        select d.id from howdah.destinations d left join howdah.subscriptions s on s.destination_id = d.id
        where (d.dropped_at is null or exists (select from howdah.temporary_queues t where t.destination_id = d.id))
          and (p_name is null or p_resource = howdah._resource_of(d.kind)
              and (howdah._rule_matches(p_name, d.name) or howdah._rule_matches(p_name, s.topic)))))
$$;
