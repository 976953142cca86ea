-- howdah.drop_rule(rule_set, resource, name, operation, allow, kind): drop an access rule.
--
-- Returns  true if there was one (boolean).
-- Raises   HD003 a wildcard is invalid; HD005 there is no such set, or it is no rule; HD010 not allowed; HD045 the
--          master of changes is away.
-- Role     howdah_admin
create or replace function howdah.drop_rule(
    rule_set text, resource text, name text, operation text, allow boolean, kind text
) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    perform howdah._rule_set(rule_set);
    perform howdah._check_rule(resource, name, operation, allow, kind, '{*}');
    perform howdah._check_rule_right(resource, name);
    perform howdah._touch_rules(rule_set);
    if not howdah._change_rule(rule_set, resource, name, operation, allow, kind, null) then
        return false;
    end if;
    perform howdah._compile_matching(resource, name);
    return true;
end
$$;
