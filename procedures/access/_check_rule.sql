-- howdah._check_rule(p_resource, p_name, p_operation, p_allow, p_kind, p_principals): refuse what is no access rule.
--
-- Raises   HD003 a wildcard is invalid; HD005 a part of the rule is wrong.
-- Role     internal
create or replace function howdah._check_rule(
    p_resource text, p_name text, p_operation text, p_allow boolean, p_kind text, p_principals text[]
) returns void
language plpgsql immutable
as $$
declare
    v_wrong text;
begin
    v_wrong := case
        when p_resource is null or p_resource not in ('connection', 'queue', 'topic') then
            format('there is no resource %s', coalesce(quote_literal(left(p_resource, 100)), 'NULL'))
        when p_name is null or p_name = '' or length(p_name) > 250 or p_name ~ E'[\\x01-\\x1f]' then 'the name is wrong'
        when (p_resource = 'connection') <> (p_operation is not distinct from 'connect') or p_operation is null
            or p_operation not in ('connect', 'produce', 'consume', 'browse', 'create', 'admin', 'pass_all', 'set_all')
            then format('a %s has no operation %s', p_resource,
                coalesce(quote_literal(left(p_operation, 100)), 'NULL'))
        when p_resource = 'connection' and p_name not in ('NORMAL', 'ADMIN') then
            format('there is no kind %s of connections', quote_literal(left(p_name, 100)))
        when p_allow is null then 'allow cannot be NULL'
        when p_kind is null or p_kind not in ('user', 'group') then
            format('there is no kind %s of principals', coalesce(quote_literal(left(p_kind, 100)), 'NULL'))
        when p_principals is null or cardinality(p_principals) = 0 or array_position(p_principals, null) is not null
            or array_ndims(p_principals) <> 1 or '' = any (p_principals)
            or array_to_string(p_principals, '') ~ E'[\\x01-\\x1f]' then 'principals must be names of roles, or *' end;
    if v_wrong is not null then
        raise exception using errcode = 'HD005', message = v_wrong,
            hint = 'A rule has a resource (connection, queue, topic), a name, allow, a kind (user, group), principals '
                'and an operation: connect, produce, consume, browse, create, admin, pass_all or set_all.';
    end if;
    if p_name ~ '[*>]' and p_name <> '*' and strpos(p_name, ':') = 0 then
        perform howdah._check_wildcard(p_name);
    end if;
end
$$;
