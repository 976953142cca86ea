-- howdah._level(p_shares, p_messages, p_message_limit, p_bytes, p_byte_limit): how many of these percents of a limit are reached.
--
-- Returns  integer; limits may be NULL.
-- Role     internal
create or replace function howdah._level(p_shares integer[], p_messages bigint, p_message_limit bigint, p_bytes bigint, p_byte_limit bigint)
returns integer
language sql immutable
as $$
    select count(*)::integer from unnest(p_shares) s(share)
    where p_messages * 100 >= s.share * p_message_limit or p_bytes::numeric * 100 >= s.share * p_byte_limit::numeric
$$;

-- howdah._deleted(): how many messages the caller's transaction has taken out and not committed, at most.
--
-- Returns  bigint; earlier transactions of the last second may be among them.
-- Role     internal
create or replace function howdah._deleted() returns bigint
language sql volatile
as $$
    select case when pg_current_xact_id_if_assigned() is null then 0
        when current_setting('track_counts')::boolean then pg_stat_get_xact_tuples_deleted('howdah.msgs'::regclass)
            + pg_stat_get_xact_tuples_deleted('howdah.msgs_nonpersistent'::regclass) + pg_stat_get_xact_tuples_deleted('howdah.parked'::regclass)
            + pg_stat_get_xact_tuples_deleted('howdah.leased'::regclass)
        else 1000000000000 end
$$;

-- howdah._stored(p_id, p_enough, p_with_bytes): the messages that lie in a destination, or (0) in all of them, and the bytes of their bodies.
--
-- Returns  messages, counted as far as p_enough; bytes, 0 unless asked for.
-- Role     internal
create or replace function howdah._stored(p_id integer, p_enough bigint, p_with_bytes boolean, out messages bigint, out bytes bigint)
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
            select case when p_with_bytes then howdah._body_bytes(m.body, m.message_id) end as bytes from howdah.msgs m where m.destination_id = p_id
            union all
            select case when p_with_bytes then howdah._body_bytes(l.body, l.message_id) end from howdah.leased l where l.destination_id = p_id
            union all
            select case when p_with_bytes then octet_length(n.body) end
            from howdah.msgs_nonpersistent n where n.destination_id = p_id and n.boot = pg_postmaster_start_time()
            union all
            select case when p_with_bytes then howdah._body_bytes(p.body, p.message_id) end
            from howdah.parked p where p.destination_id = p_id and (p.boot is null or p.boot = pg_postmaster_start_time())
            limit p_enough
        ) l;
    else
        select count(*), coalesce(sum(l.bytes), 0) into messages, bytes
        from (
            select case when p_with_bytes then howdah._body_bytes(m.body, m.message_id) end as bytes from howdah.msgs m
            union all
            select case when p_with_bytes then howdah._body_bytes(l.body, l.message_id) end from howdah.leased l
            union all
            select case when p_with_bytes then octet_length(n.body) end from howdah.msgs_nonpersistent n where n.boot = pg_postmaster_start_time()
            union all
            select case when p_with_bytes then howdah._body_bytes(p.body, p.message_id) end
            from howdah.parked p where p.boot is null or p.boot = pg_postmaster_start_time()
            limit p_enough
        ) l;
    end if;
end
$$;
