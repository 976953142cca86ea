-- howdah.import_rules(rule_set, rules): make a set of access rules what a text says, and create it if there is none.
--
-- Returns  the number of its rules (integer).
-- Raises   HD003, HD005 a line is no rule; nothing is written then; HD010 not allowed; HD045 the master of changes is
--          away.
-- Role     howdah_admin
--
-- rules is in the syntax of Sun ONE MQ's accesscontrol.properties: lines such as queue.q1.produce.deny.user=tom,
-- comments that begin with #, and lines that a backslash continues. The last of several lines with one key wins. A text
-- without a line about the operation admin, which Sun ONE MQ does not have, gets the default ones.
create or replace function howdah.import_rules(rule_set text, rules text) returns integer
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_rules jsonb;
begin
    if rules is null then
        raise exception using errcode = 'HD005', message = 'rules cannot be NULL';
    end if;
    perform howdah._check_rule_right(null, '*');
    v_rules := (select coalesce(jsonb_agg(r), '[]') from howdah._parse_rules(rules) r);
    if not v_rules @> '[{"operation": "admin"}]' then
        v_rules := v_rules || (select jsonb_agg(d) from howdah._default_rules() d where d.operation = 'admin');
    end if;
    if not exists (select from howdah.access_rule_sets s where s.name = import_rules.rule_set) then
        perform howdah.create_rule_set(rule_set);
    end if;
    perform howdah._touch_rules(rule_set);
    perform howdah._change_rule(r.rule_set, r.resource, r.name, r.operation, r.allow, r.kind, null)
    from (select a.* from howdah.access_rules a where a.rule_set = import_rules.rule_set
        and not exists (select from jsonb_to_recordset(v_rules) n(resource text, name text, operation text,
            allow boolean, kind text)
            where (n.resource, n.name, n.operation, n.allow, n.kind)
                = (a.resource, a.name, a.operation, a.allow, a.kind))) r;
    perform howdah._change_rule(rule_set, n.resource, n.name, n.operation, n.allow, n.kind, n.principals)
    from jsonb_to_recordset(v_rules) n(resource text, name text, operation text, allow boolean, kind text,
        principals text[]);
    perform howdah._compile_matching(null, null);
    return jsonb_array_length(v_rules);
end
$$;
