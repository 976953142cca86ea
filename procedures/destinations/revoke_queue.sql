-- howdah.revoke_queue(queue, verb, role): revoke a right at a queue.
--
-- Returns  true if the role itself had the right (boolean).
-- Raises   HD001 no such queue; HD005 no such verb; HD010 not allowed; HD045 the master of changes is away.
-- Role     howdah_admin
--
-- The role may no longer exist. Its rights remain, for a later role of the same name, until they are revoked.
--
-- The role leaves the access rules of this queue. A rule by wildcard may still give it the right. Then the queue gets
-- rules of its own: who else has the right keeps it by name, and everybody else is denied it.
create or replace function howdah.revoke_queue(queue text, verb text, role text) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_queue howdah.destinations := howdah._destination(queue, 'admin');
    v_before jsonb;
    v_resource text := howdah._resource_of(v_queue.kind);
begin
    perform howdah._check_verb(verb);
    perform howdah._adopt(v_queue.id);
    perform howdah._touch_rules((select e.rule_set from howdah.engine e));
    if not exists (
        select from howdah.list_grants(queue) g where (g.verb, g.role) = (revoke_queue.verb, revoke_queue.role)) then
        return false;
    end if;
    v_before := howdah._grants_of(v_queue.id);
    delete from howdah.destination_grants g
    where g.destination_id = v_queue.id and g.rule_set = '' and g.verb = revoke_queue.verb
      and g.role_name = revoke_queue.role;
    perform howdah._record_change('grant', queue, 'altered', jsonb_build_object('queue', queue, 'grants', v_before),
        jsonb_build_object('queue', queue, 'grants', howdah._grants_of(v_queue.id)));
    perform howdah._grant_rule(v_queue, verb, true, k.kind,
        array_remove(howdah._granted(v_queue, verb, true, k.kind), role))
    from (values ('user'), ('group')) k(kind);
    perform howdah._compile_matching(v_resource, v_queue.name);
    if exists (
        select from howdah.list_grants(queue) g where (g.verb, g.role) = (revoke_queue.verb, revoke_queue.role)) then
        perform howdah._deny_others(v_queue, verb, role);
        perform howdah._compile_matching(v_resource, v_queue.name);
    end if;
    return true;
end
$$;
