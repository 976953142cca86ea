-- howdah._look_up(p_destination_id, p_message_id, p_correlation_id): the messages of a queue with a given id or
-- correlation id.
--
-- Returns  each message, whether it is non-persistent, when it is due (NULL: now), and whether it is leased until then,
--          in no order. Messages lost by a restart are left out. A lookup by correlation id also leaves out messages of
--          the table leased whose lease has not ended.
-- Role     internal
--
-- The positions follow from the id and from the table moved; correlation ids have an index over their hashes. Nothing
-- is locked.
create or replace function howdah._look_up(p_destination_id integer, p_message_id bigint, p_correlation_id text)
returns table (message howdah.msgs, nonpersistent boolean, due_at timestamptz, leased boolean)
language plpgsql stable set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan
as $$
declare
    v_ranks constant smallint[] := '{0,1,2,3,4,5,6,7,8,9}';
    v_boot constant timestamptz := pg_postmaster_start_time();
    v_seqs bigint[];
begin
    if p_correlation_id is not null then
        return query
        select f.message, f.nonpersistent, f.due_at, f.leased from (
            select m as message, false as nonpersistent, null::timestamptz as due_at, false as leased from howdah.msgs m
            where hashtextextended(m.correlation_id, 0) = hashtextextended(p_correlation_id, 0)
              and m.correlation_id = p_correlation_id
            union all
            select howdah._as_ready(n), true, null, false from howdah.msgs_nonpersistent n
            where hashtextextended(n.correlation_id, 0) = hashtextextended(p_correlation_id, 0)
              and n.correlation_id = p_correlation_id
              and n.boot = v_boot
            union all
            select howdah._as_ready(p), p.boot is not null, p.due_at, p.lease_id is not null from howdah.parked p
            where hashtextextended(p.correlation_id, 0) = hashtextextended(p_correlation_id, 0)
              and p.correlation_id = p_correlation_id
              and (p.boot is null or p.boot = v_boot)
            union all
            select howdah._unleased(o), false, l.until, true
            from howdah.leases l cross join lateral howdah._in_lease(l.destination_id, l.lease_id) o
            where l.destination_id = p_destination_id and l.until <= howdah.now()
              and o.correlation_id = p_correlation_id
            offset 0  -- without it, the key may seem as good a way where there are no statistics
        ) f
        where (f.message).destination_id = p_destination_id;
        return;
    end if;
    v_seqs := howdah._positions(p_destination_id, p_message_id);
    return query
    select k.* from unnest(v_ranks) r(rank) cross join unnest(v_seqs) s(seq) cross join lateral (
        select m, false, null::timestamptz, false from howdah.msgs m
        where m.destination_id = p_destination_id and m.rank = r.rank and m.seq = s.seq and m.message_id = p_message_id
        union all
        select howdah._as_ready(n), true, null, false from howdah.msgs_nonpersistent n
        where n.destination_id = p_destination_id and n.rank = r.rank and n.seq = s.seq
          and n.message_id = p_message_id and n.boot = v_boot
        offset 0  -- one look for each priority and position, as in howdah._find
    ) k;
    if found then
        return;
    end if;
    return query
    select howdah._as_ready(p), p.boot is not null, p.due_at, p.lease_id is not null from howdah.parked p
    where p.destination_id = p_destination_id and p.message_id = p_message_id and (p.boot is null or p.boot = v_boot)
    union all
    select howdah._unleased(o), false, l.until, true
    from howdah.leases l cross join lateral howdah._in_lease(l.destination_id, l.lease_id, array[p_message_id]) o
    where l.destination_id = p_destination_id;
end
$$;
