-- howdah.parse_rule(key): the parts of an access rule's key, such as queue.q1.produce.deny.user.
--
-- Returns  one row, for howdah.set_rule and howdah.drop_rule.
-- Raises   HD003 its wildcard is invalid; HD005 it is no key of a rule.
-- Role     howdah_admin howdah_auditor
create or replace function howdah.parse_rule(key text) returns table (
    resource text, name text, operation text, allow boolean, kind text
)
language plpgsql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_found record;
begin
    if key is null or key ~ E'[\r\n]' then
        raise exception using errcode = 'HD005', message = 'the key of a rule is one line';
    end if;
    begin
        select r.* into v_found from howdah._parse_rules(key || '=*') r;
    exception when sqlstate 'HD005' then
        v_found := null;
    end;
    if v_found is null then
        raise exception using errcode = 'HD005',
            message = format('%s is no key of a rule', coalesce(quote_literal(left(key, 100)), 'NULL')),
            hint = 'For example queue.q1.produce.deny.user or connection.ADMIN.allow.group.';
    end if;
    return query select v_found.resource, v_found.name, v_found.operation, v_found.allow, v_found.kind;
end
$$;
