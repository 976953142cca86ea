-- howdah._stored(p_id, p_enough, p_with_bytes): count the messages in a destination, or (0) in all of them, and the
-- bytes of their bodies.
--
-- Returns  messages, counted up to p_enough; bytes, 0 unless asked for.
-- Role     internal
create or replace function howdah._stored(
    p_id integer, p_enough bigint, p_with_bytes boolean, out messages bigint, out bytes bigint
)
returns record
language plpgsql volatile set enable_seqscan = off set jit = off
as $$
begin
    if p_with_bytes then
        p_enough := null;
    end if;
    if p_id > 0 then
        select count(*), coalesce(sum(l.bytes), 0) into messages, bytes
        from (
            select case when p_with_bytes then howdah._body_bytes(m.body, m.message_id) end as bytes from howdah.msgs m
            where m.destination_id = p_id
            union all
            select case when p_with_bytes then howdah._body_bytes(l.body, l.message_id) end from howdah.leased l
            where l.destination_id = p_id
            union all
            select case when p_with_bytes then octet_length(n.body) end
            from howdah.msgs_nonpersistent n where n.destination_id = p_id and n.boot = pg_postmaster_start_time()
            union all
            select case when p_with_bytes then howdah._body_bytes(p.body, p.message_id) end
            from howdah.parked p where p.destination_id = p_id
            and (p.boot is null or p.boot = pg_postmaster_start_time())
            limit p_enough
        ) l;
    else
        select count(*), coalesce(sum(l.bytes), 0) into messages, bytes
        from (
            select case when p_with_bytes then howdah._body_bytes(m.body, m.message_id) end as bytes from howdah.msgs m
            union all
            select case when p_with_bytes then howdah._body_bytes(l.body, l.message_id) end from howdah.leased l
            union all
            select case when p_with_bytes then octet_length(n.body) end from howdah.msgs_nonpersistent n
            where n.boot = pg_postmaster_start_time()
            union all
            select case when p_with_bytes then howdah._body_bytes(p.body, p.message_id) end
            from howdah.parked p where p.boot is null or p.boot = pg_postmaster_start_time()
            limit p_enough
        ) l;
    end if;
end
$$;
