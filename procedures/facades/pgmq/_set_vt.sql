-- pgmq._set_vt(p_queue, p_numbers, p_vt): set the time from which messages are visible.
--
-- Returns  the messages as they are now.
-- Raises   as pgmq.set_vt.
-- Role     internal
create or replace function pgmq._set_vt(p_queue text, p_numbers bigint[], p_vt timestamptz)
returns setof pgmq.message_record
language plpgsql volatile
    set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
    v_queue record;
    v_vt timestamptz := pgmq._readable(p_vt);
    v_ids bigint[];
    v_taken integer;
begin
    select d.id, d.main_rank as rank,
        howdah._has_role(d.receivers[1]) or d.receivers <> '{}' and howdah._has_right(d.id, 'receive') as allowed
    into v_queue
    from howdah.destinations d where d.name = lower(p_queue) and d.dropped_at is null and d.kind = 'queue';
    if v_queue.allowed is not true then
        perform pgmq._refuse(p_queue, 'receive');
    end if;
    v_ids := pgmq._message_ids(v_queue.id, p_numbers);
    return query
    with again as (
        delete from howdah.parked p
        where p.destination_id = v_queue.id and p.message_id = any (v_ids) and p.lease_id is null
        returning p as stored
    ), hidden as (
        insert into howdah.parked as i
        select (howdah._as_ready(a.stored)).*, v_vt, (a.stored).parked_reason, (a.stored).boot, null,
            (a.stored).group_id, (a.stored).reads, (a.stored).last_read_at
        from again a
        returning i.*
    )
    select pgmq._number(v_queue.id, h.message_id), coalesce(h.reads, 0), h.sent_at, h.last_read_at, h.due_at,
        pgmq._json(h.content_type, coalesce(h.body, howdah._body(h.message_id))), pgmq._shown_headers(h.headers)
    from hidden h order by h.seq;
    get diagnostics v_taken = row_count;
    if v_taken < cardinality(v_ids) then
        perform howdah._open_lane(v_queue.id, v_queue.rank, 0);
        return query
        with ready as (
            delete from howdah.msgs m
            where m.destination_id = v_queue.id and m.rank = v_queue.rank
              and m.seq = any (array(select i.id / 1000000 from unnest(v_ids) i(id))) and m.message_id = any (v_ids)
            returning m.*
        ), hidden as (
            insert into howdah.parked as i select r.*, v_vt, 'delay' from ready r
            returning i.*
        )
        select pgmq._number(v_queue.id, h.message_id), 0, h.sent_at, null::timestamptz, h.due_at,
            pgmq._json(h.content_type, coalesce(h.body, howdah._body(h.message_id))), pgmq._shown_headers(h.headers)
        from hidden h order by h.seq;
    end if;
end
$$;
