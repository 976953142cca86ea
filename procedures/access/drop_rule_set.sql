-- howdah.drop_rule_set(name): drop a set of access rules with its rules.
--
-- Returns  the number of rules dropped (integer).
-- Raises   HD005 there is no such set, or it is in force; HD010 not allowed; HD045 the master of changes is away.
-- Role     howdah_admin
create or replace function howdah.drop_rule_set(name text) returns integer
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_rules integer;
begin
    perform howdah._rule_set(name);
    perform howdah._check_rule_right(null, '*');
    perform howdah._touch_rules(name);
    if exists (select from howdah.engine e where e.rule_set = drop_rule_set.name)
       or exists (select from howdah.services s where s.rule_set = drop_rule_set.name) then
        raise exception using errcode = 'HD005', message = format('rule set %s is in force', quote_literal(name)),
            hint = 'Give the engine, or the service, another one first.';
    end if;
    select count(howdah._change_rule(r.rule_set, r.resource, r.name, r.operation, r.allow, r.kind, null))
    into v_rules
    from (select a.* from howdah.access_rules a where a.rule_set = drop_rule_set.name) r;
    delete from howdah.access_rule_sets s where s.name = drop_rule_set.name;
    perform howdah._record_change('rule_set', name, 'dropped', '{}', null);
    perform howdah._compile_matching(null, null);
    return v_rules;
end
$$;
