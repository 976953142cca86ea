-- howdah._change_rule(p_rule_set, p_resource, p_name, p_operation, p_allow, p_kind, p_principals): store a rule, or
-- delete it (p_principals NULL or empty), and record that. It does not compile.
--
-- Returns  whether anything changed (boolean).
-- Role     internal
create or replace function howdah._change_rule(
    p_rule_set text, p_resource text, p_name text, p_operation text, p_allow boolean, p_kind text, p_principals text[]
) returns boolean
language plpgsql volatile
as $$
declare
    v_before text[];
    v_after text[] := (select array_agg(p.name order by p.n)
        from (select u.name, min(u.n) as n from unnest(p_principals) with ordinality u(name, n) group by u.name) p);
begin
    select r.principals into v_before from howdah.access_rules r
    where (r.rule_set, r.resource, r.name, r.operation, r.allow, r.kind)
        = (p_rule_set, p_resource, p_name, p_operation, p_allow, p_kind);
    if v_before is not distinct from v_after then
        return false;
    elsif v_after is null then
        delete from howdah.access_rules r
        where (r.rule_set, r.resource, r.name, r.operation, r.allow, r.kind)
            = (p_rule_set, p_resource, p_name, p_operation, p_allow, p_kind);
    else
        insert into howdah.access_rules (rule_set, resource, name, operation, allow, kind, principals)
        values (p_rule_set, p_resource, p_name, p_operation, p_allow, p_kind, v_after)
        on conflict on constraint pk_access_rules do update set principals = excluded.principals;
    end if;
    perform howdah._record_change('rule',
        p_rule_set || '/' || howdah._rule_key(p_resource, p_name, p_operation, p_allow, p_kind),
        case when v_before is null then 'created' when v_after is null then 'dropped' else 'altered' end,
        case when v_before is not null then jsonb_build_object('principals', v_before) end,
        case when v_after is not null then jsonb_build_object('principals', v_after) end);
    return true;
end
$$;
