-- pgmq._archive(p_queue, p_numbers): consume messages by their numbers, and keep them in the archive.
--
-- Returns  the numbers (bigint) of those that were there.
-- Raises   as pgmq._refuse; 23505 the archive has the number already.
-- Role     internal
create or replace function pgmq._archive(p_queue text, p_numbers bigint[]) returns setof bigint
language plpgsql volatile
    set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
    v_queue record;
    v_now timestamptz := howdah.now();
    v_ids bigint[];
    v_gone bigint[];
begin
    select d.id, d.main_rank as rank, d.journal_level <> 'off' as journaled,
        howdah._has_role(d.receivers[1]) or d.receivers <> '{}' and howdah._has_right(d.id, 'receive') as allowed
    into v_queue
    from howdah.destinations d where d.name = lower(p_queue) and d.dropped_at is null and d.kind = 'queue';
    if v_queue.allowed is not true then
        perform pgmq._refuse(p_queue, 'receive');
    end if;
    v_ids := pgmq._message_ids(v_queue.id, p_numbers);
    with gone as materialized (
        delete from howdah.parked p
        where p.destination_id = v_queue.id and p.message_id = any (v_ids) and p.lease_id is null and p.boot is null
        returning p.*
    ), listed as materialized (
        select array_agg(g.message_id) as ids, min(g.sent_at) as oldest_sent_at from gone g having count(*) > 0
    ), journaled as (
        insert into howdah.journal (at, destination_id, nonpersistent, event, reason, message_ids, oldest_sent_at)
        select v_now, v_queue.id, false, 'consumed', 'held', i.ids, i.oldest_sent_at from listed i
        where v_queue.journaled
    ), kept as (
        insert into pgmq.archived as a (destination_id, msg_id, read_ct, enqueued_at, last_read_at, archived_at, vt,
            message, headers)
        select v_queue.id, pgmq._number(v_queue.id, g.message_id), coalesce(g.reads, 0), g.sent_at, g.last_read_at,
            v_now, g.due_at, pgmq._json(g.content_type, coalesce(g.body, howdah._take_body(g.message_id))), g.headers
        from gone g
        returning a.msg_id
    )
    select array_agg(k.msg_id order by k.msg_id) into v_gone from kept k;
    return query select g.number from unnest(v_gone) g(number);
    if coalesce(cardinality(v_gone), 0) < cardinality(v_ids) then
        return query
        insert into pgmq.archived as a (destination_id, msg_id, enqueued_at, archived_at, vt, message, headers)
        select v_queue.id, t.number, (t.message).sent_at, v_now, (t.message).sent_at,
            pgmq._json((t.message).content_type,
                coalesce((t.message).body, howdah._take_body((t.message).message_id))), (t.message).headers
        from pgmq._take_ready(v_queue.id, v_queue.rank,
            array(select i.id from unnest(v_ids) i(id) where (pgmq._number(v_queue.id, i.id) = any (v_gone)) is not true),
            v_queue.journaled, v_now) t
        returning a.msg_id;
    end if;
end
$$;
