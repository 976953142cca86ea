-- howdah.grant_queue(queue, verb, role): grant a role and its members a right at a queue.
--
-- Returns  true if the right is new (boolean).
-- Raises   HD001 no such queue; HD005 no such verb or role; HD010 not allowed; HD045 the master of changes is away.
-- Role     howdah_admin
--
-- The verbs are send, receive, browse, admin, pass_all and set_all. IBM MQ asks for pass_all and set_all, besides the
-- first three, of a consumer whose poison messages go to a queue (option check_rights).
--
-- The right is an access rule of the engine's set, such as queue.q1.produce.allow.group. A rule that denies it to this
-- role at this queue ends. See howdah.set_rule for rules by wildcard, and howdah.explain_access.
create or replace function howdah.grant_queue(queue text, verb text, role text) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_queue howdah.destinations := howdah._destination(queue, 'admin');
    v_new boolean;
begin
    perform howdah._check_grant(verb, role);
    perform howdah._adopt(v_queue.id);
    perform howdah._touch_rules((select e.rule_set from howdah.engine e));
    v_new := not exists (
        select from howdah.list_grants(queue) g where (g.verb, g.role) = (grant_queue.verb, grant_queue.role));
    perform howdah._grant_rule(v_queue, verb, false, k.kind,
        array_remove(howdah._granted(v_queue, verb, false, k.kind), role))
    from (values ('user'), ('group')) k(kind);
    perform howdah._grant_rule(v_queue, verb, true, 'group',
        array_append(array_remove(howdah._granted(v_queue, verb, true, 'group'), role), role));
    perform howdah._compile_matching(howdah._resource_of(v_queue.kind), v_queue.name);
    return v_new;
end
$$;
