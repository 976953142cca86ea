-- pgmq._read_otherwise(p_queue, p_until, p_qty, p_conditional, p_pop): read from a queue that howdah.receive must
-- serve: one with priorities, groups, an order, a limit of failures, concurrency or rates, or non-persistent messages.
--
-- Returns  the messages.
-- Raises   0A000 p_conditional is given; and as pgmq._refuse and howdah.receive.
-- Role     internal
--
-- howdah.receive disposes of messages that are at the limit of failures.
create or replace function pgmq._read_otherwise(
    p_queue text, p_until timestamptz, p_qty bigint, p_conditional jsonb, p_pop boolean
) returns setof pgmq.message_record
language plpgsql volatile set enable_seqscan = off set jit = off
as $$
declare
    v_destination howdah.destinations := pgmq._refuse(p_queue, 'receive');
    v_want integer := least(coalesce(p_qty, 10000), 10000);
    v_now timestamptz := howdah.now();
    v_ids bigint[];
    v_priorities integer[];
    v_positions bigint[];
begin
    perform howdah._refuse_paused(v_destination.id) where v_destination.receiving_paused;
    if p_conditional is not null then
        raise exception using errcode = 'feature_not_supported',
            message = format('queue %s gives messages by its own order, not by a condition', quote_literal(p_queue));
    end if;
    if v_destination.max_failed_deliveries > 0 then
        perform pgmq._blame_reads(v_destination.id, v_now, false);
    end if;
    if v_want = 0 then
        return;
    end if;
    if p_pop then
        -- This statement still sees the row of a message that waited, which the receive deletes.
        return query
        select pgmq._number(v_destination.id, r.message_id), coalesce(p.reads, 0), r.sent_at, p.last_read_at,
            coalesce(p.due_at, r.sent_at),
            pgmq._json(r.content_type, coalesce(r.bytes, convert_to(r.body, 'UTF8'))), pgmq._shown_headers(r.headers)
        from howdah.receive(lower(p_queue), v_want) with ordinality r
        left join lateral (
            select p.* from howdah.parked p
            where p.ctid = (howdah._parked_rows(v_destination.id, array[r.message_id]))[1]) p on true
        order by r.ordinality;
        return;
    end if;
    select array_agg(r.message_id), array_agg(r.priority), array_agg(r."position")
    into v_ids, v_priorities, v_positions from howdah.receive(lower(p_queue), v_want, true) r;
    perform howdah._open_lane(v_destination.id, h.rank, 0)
    from (select distinct 9 - u.priority as rank from unnest(v_priorities) u(priority)) h;
    return query
    with ready as (
        delete from howdah.msgs m
        where m.ctid = any (howdah._ready_rows(v_destination.id, v_ids, v_priorities, v_positions))
        returning m.*
    ), nonpersistent as (
        delete from howdah.msgs_nonpersistent n
        where n.ctid = any (howdah._nonpersistent_rows(v_destination.id, v_ids, v_priorities, v_positions))
        returning n as stored
    ), again as (
        delete from howdah.parked p where p.ctid = any (howdah._parked_rows(v_destination.id, v_ids))
        returning p as stored
    ), hidden as (
        insert into howdah.parked as i
        select r.*, p_until, 'lease', null::timestamptz, null::bigint, null::text, 1, v_now from ready r
        union all
        select (howdah._as_ready(n.stored)).*, p_until, 'lease', (n.stored).boot, null, null, 1, v_now
        from nonpersistent n
        union all
        select (howdah._as_ready(a.stored)).*, p_until, 'lease', (a.stored).boot, null, null,
            coalesce((a.stored).reads, 0) + 1, v_now
        from again a
        returning i.*
    )
    select pgmq._number(v_destination.id, h.message_id), h.reads, h.sent_at, v_now, p_until,
        pgmq._json(h.content_type, coalesce(h.body, howdah._body(h.message_id))), pgmq._shown_headers(h.headers)
    from hidden h order by h.rank, h.seq;
end
$$;
