-- howdah.set_rule(rule_set, resource, name, operation, allow, kind, principals): store an access rule, in the place of
-- one with the same key.
--
-- Returns  whether that changed anything (boolean).
-- Raises   HD003 a wildcard is invalid; HD005 there is no such set, it is no rule, or the transaction is above
--          READ COMMITTED; HD010 not allowed; HD045 the master of changes is away.
-- Role     howdah_admin
--
-- The key is everything but the principals: the last of several rules with one key wins. resource is connection, queue
-- or topic. name is that of a queue, topic or subscription, a wildcard such as JOBS.>, or * for all; for a connection
-- it is NORMAL or ADMIN. operation is connect for a connection, and else produce, consume, browse, create, admin,
-- pass_all or set_all. kind user covers the named roles themselves; group covers their members, too. * is everybody.
--
-- The rule holds from every session's next statement on; under REPEATABLE READ from its next transaction on.
create or replace function howdah.set_rule(
    rule_set text, resource text, name text, operation text, allow boolean, kind text, principals text[]
) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    perform howdah._rule_set(rule_set);
    perform howdah._check_rule(resource, name, operation, allow, kind, principals);
    perform howdah._check_rule_right(resource, name);
    perform howdah._touch_rules(rule_set);
    if not howdah._change_rule(rule_set, resource, name, operation, allow, kind, principals) then
        return false;
    end if;
    perform howdah._compile_matching(resource, name);
    return true;
end
$$;
