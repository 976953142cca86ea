-- howdah._claim(p_lane, p_want, p_now, p_hold, p_positions, p_locked, p_all, p_walk): take messages in every way but the main one.
--
-- Returns  setof howdah.claimed, in order; with p_hold the rows are locked to the end of the transaction, else deleted.
-- Role     internal
--
-- Ready messages (only with p_hold) by the positions that the caller found; non-persistent and parked ones by a scan. p_walk: all by howdah._walk.
create or replace function howdah._claim(
    p_lane howdah.lanes, p_want integer, p_now timestamptz, p_hold boolean, p_positions bigint[], p_locked boolean, p_all boolean,
    p_walk howdah.walk
) returns setof howdah.claimed
language plpgsql volatile
as $$
declare
    v_tids tid[];
begin
    if p_walk.groups is not null then
        return query select * from howdah._take_walked(p_lane, p_walk, p_want, p_now, p_hold, p_all);
    elsif p_lane.place = 2 then
        return query
        select m.*, 'msgs', false from howdah.msgs m
        where m.destination_id = p_lane.destination_id and m.rank = p_lane.rank
          and m.seq between p_positions[1] and p_positions[cardinality(p_positions)] and m.seq = any (p_positions)
          and (p_locked or m.xmax = 0)
        order by m.seq for update skip locked;
    elsif p_lane.place = 1 then
        v_tids := howdah._scan(p_lane, p_want, p_now, p_all);
        return query
        select n.seq, n.message_id, n.sent_at, n.expires_at, n.dead_at, n.destination_id, n.origin_id, n.rank, n.stage,
            n.is_text, n.content_type, n.body, n.headers, n.correlation_id, n.reply_to, n.message_type, n.conversation_id,
            n.dead_reason, 'msgs_nonpersistent', true
        from howdah.msgs_nonpersistent n where n.ctid = any (v_tids) order by n.seq;
        if not p_hold then
            delete from howdah.msgs_nonpersistent n where n.ctid = any (v_tids);
        end if;
    else
        v_tids := howdah._scan(p_lane, p_want, p_now, p_all);
        perform howdah._blame_leases(p_lane.destination_id, l.rows)
        from (select array_agg(p) as rows from howdah.parked p where p.ctid = any (v_tids) and p.lease_id is not null) l
        where l.rows is not null;
        return query
        select p.seq, p.message_id, p.sent_at, p.expires_at, p.dead_at, p.destination_id, p.origin_id, p.rank, p.stage,
            p.is_text, p.content_type, p.body, p.headers, p.correlation_id, p.reply_to, p.message_type, p.conversation_id,
            p.dead_reason, 'parked', p.boot is not null
        from howdah.parked p where p.ctid = any (v_tids) order by p.due_at, p.seq;
        if not p_hold then
            delete from howdah.parked p where p.ctid = any (v_tids);
        end if;
    end if;
end
$$;

-- howdah._scan(p_lane, p_want, p_now, p_all): the first free non-persistent or due parked messages of a lane.
--
-- Returns  their row identifiers (tid[]), locked.
-- Role     internal
--
-- From the beginning while that takes under 10 ms. Where dead rows have made it dear, from the head, which is the last position (or, in
-- microseconds, due time) taken; and from the beginning only when a step is due, or with p_all.
create or replace function howdah._scan(p_lane howdah.lanes, p_want integer, p_now timestamptz, p_all boolean) returns tid[]
language plpgsql volatile
as $$
declare
    v_begun timestamptz := clock_timestamp();
    v_head bigint := case when p_all then 0 else howdah._hint(p_lane.head) end;
    v_tids tid[];
    v_last bigint;
begin
    if v_head > 0 and howdah._is_due(howdah._hint(p_lane.search), howdah._pace(v_begun)) then
        v_head := 0;
    end if;
    if p_lane.place = 1 then
        select array_agg(f.ctid), max(f.seq) into v_tids, v_last
        from (select n.ctid, n.seq from howdah.msgs_nonpersistent n
              where n.destination_id = p_lane.destination_id and n.rank = p_lane.rank and n.seq > v_head
                and n.boot = pg_postmaster_start_time()
              order by n.seq limit p_want for update skip locked) f;
    else
        perform howdah._return_leases(p_lane.destination_id, p_want, p_now, case when v_head > 0 then to_timestamp(v_head / 1000000.0) - interval '1 ms' end);
        select array_agg(f.ctid), (date_part('epoch', max(f.due_at)) * 1000000)::bigint into v_tids, v_last
        from (select p.ctid, p.due_at from howdah.parked p
              where p.destination_id = p_lane.destination_id and p.rank = p_lane.rank and p.due_at <= p_now
                and p.due_at > to_timestamp(v_head / 1000000.0) - interval '1 ms'
                and (p.boot is null or p.boot = pg_postmaster_start_time())
              order by p.due_at, p.seq limit p_want for update skip locked) f;
    end if;
    if p_lane.head is null then
        null;
    elsif v_head > 0 then
        perform setval(p_lane.head, greatest(v_head, v_last));
    elsif clock_timestamp() - v_begun > interval '10 ms' + coalesce(cardinality(v_tids), 0) * interval '10 us' then
        perform setval(p_lane.head, coalesce(v_last, greatest(howdah._hint(p_lane.head), 1)));
        perform howdah._remember(p_lane.search, 0, v_begun, false);
    elsif howdah._hint(p_lane.head) > 0 then
        perform setval(p_lane.head, 0);
    end if;
    return v_tids;
end
$$;
