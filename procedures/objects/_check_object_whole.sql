-- howdah._check_object_whole(p_kind, p_attributes): refuse attributes that are right alone but contradict each other,
-- or lack one.
--
-- Raises   HD005 one is missing, or two contradict each other.
-- Role     internal
create or replace function howdah._check_object_whole(p_kind text, p_attributes jsonb) returns void
language plpgsql immutable
as $$
declare
    v_wrong text := case
        when p_kind in ('queue', 'topic') and not p_attributes ? 'destination'
            then format('a %s needs the attribute destination', p_kind)
        when p_kind = 'xa_connection_factory' and not p_attributes ? 'members'
            then 'an xa_connection_factory needs the attribute members'
        when p_attributes ? 'service' and p_attributes ?| array['hosts', 'dbname', 'user', 'sslmode']
            then 'service says already what hosts, dbname, user and sslmode would'
        when (p_attributes ->> 'max_size')::integer <= coalesce((p_attributes ->> 'min_size')::integer, 0)
            or not p_attributes ? 'max_size' and (p_attributes ->> 'min_size')::integer >= 10
            then 'max_size (10 if left out) must be above min_size'
    end;
begin
    if v_wrong is not null then
        raise exception using errcode = 'HD005', message = v_wrong,
            hint = 'See the page about administered objects for what each attribute means.';
    end if;
end
$$;
