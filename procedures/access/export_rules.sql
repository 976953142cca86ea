-- howdah.export_rules(rule_set): a set of access rules as text, which howdah.import_rules takes.
--
-- Returns  text in the syntax of Sun ONE MQ's accesscontrol.properties.
-- Raises   HD005 there is no such set; HD010 not allowed.
-- Role     howdah_admin howdah_auditor
create or replace function howdah.export_rules(rule_set text default 'default') returns text
language plpgsql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    return (
        select format(E'# Access rules of Howdah: the set %s.\n%s', quote_literal(rule_set),
            coalesce(string_agg(howdah._rule_key(r.resource, r.name, r.operation, r.allow, r.kind) || '='
                || howdah._escaped_principals(r.principals) || E'\n', '' order by r.n), ''))
        from howdah.list_rules(export_rules.rule_set) with ordinality r(resource, name, operation, allow, kind,
            principals, n));
end
$$;
