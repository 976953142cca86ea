-- howdah._seen_queues(): the queues that lists show the caller, found for all of them at once.
--
-- Returns  their ids (setof integer), as howdah._sees says of each. Temporary queues are left out.
-- Raises   HD010 called from a maintenance command.
-- Role     internal
--
-- For each verb the first tier that matches the caller decides. Within a tier a denial comes first, as in
-- howdah._has_right. Asking that of 10,000 queues one by one takes longer than reading all of their figures.
create or replace function howdah._seen_queues() returns setof integer
language plpgsql stable rows 1000
as $$
declare
    v_all constant boolean := howdah._sees_all();
    v_rule_set constant text := howdah._rule_set_of_caller();
    v_caller constant text := howdah._caller();
    v_groups text[];
begin
    perform howdah._refuse_maintenance();
    if not v_all then
        v_groups := array(select g.role_name from (select distinct d.role_name from howdah.destination_grants d
            where d.kind <> 'user' and d.role_name <> '*') g where howdah._has_role(g.role_name));
    end if;
    return query
    select d.id from howdah.destinations d
    where d.kind = 'queue' and d.dropped_at is null and not d.name ^@ '_TEMP.' and (v_all or d.id in (
        select r.destination_id from (
            select distinct on (g.destination_id, g.verb) g.destination_id, g.allow
            from howdah.destination_grants g
            where g.rule_set in (v_rule_set, '') and g.verb in ('receive', 'send', 'browse', 'admin')
              and case when g.role_name = '*' then true when g.kind = 'user' then g.role_name = v_caller
                  else g.role_name = any (v_groups) end
            order by g.destination_id, g.verb, g.tier, g.allow
        ) r where r.allow));
end
$$;
