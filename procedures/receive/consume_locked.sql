-- howdah.consume_locked(queue, message_ids, priorities, positions): consume messages held by howdah.receive_locked.
--
-- Returns  nothing. The arguments are the ids, priorities and positions of the messages received.
-- Raises   HD001 no such queue; HD005 an array is NULL or the arrays differ in length; HD010 not allowed; HD013 a
--          message is no longer there.
-- Role     howdah_consumer howdah_admin
create or replace function howdah.consume_locked(
    queue text, message_ids bigint[], priorities integer[], positions bigint[]
)
returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
as $$
declare
    v_destination howdah.destinations := howdah._destination(queue, 'receive');
    v_missing bigint[];
    v_persistent bigint[];
    v_nonpersistent bigint[];
    v_oldest timestamptz;
    v_oldest_nonpersistent timestamptz;
    v_apart bigint[];
begin
    if (cardinality(message_ids) = cardinality(priorities)
        and cardinality(message_ids) = cardinality(positions)) is not true then
        raise exception using errcode = 'HD005',
            message = 'message_ids, priorities and positions must be of equal length';
    end if;
    with wanted as (
        select distinct w.message_id, 9 - w.priority::bigint as rank, w.seq
        from unnest(message_ids, priorities, positions) w(message_id, priority, seq)
    ), ready as (
        delete from howdah.msgs m using wanted w
        where m.destination_id = v_destination.id and m.rank = w.rank and m.seq = w.seq and m.message_id = w.message_id
        returning m.message_id, m.sent_at, m.body is null as apart
    ), nonpersistent as (
        delete from howdah.msgs_nonpersistent n using wanted w
        where n.destination_id = v_destination.id and n.rank = w.rank and n.seq = w.seq and n.message_id = w.message_id
        returning n.message_id, n.sent_at
    ), parked as (
        delete from howdah.parked p using wanted w
        where p.destination_id = v_destination.id and p.message_id = w.message_id
        returning p.message_id, p.sent_at, p.boot is not null as nonpersistent, p.body is null as apart
    ), gone as (
        select r.message_id, r.sent_at, false as nonpersistent, r.apart from ready r
        union all select n.message_id, n.sent_at, true, false from nonpersistent n
        union all select p.message_id, p.sent_at, p.nonpersistent, p.apart from parked p
    )
    select array_agg(w.message_id) filter (where g.message_id is null),
        array_agg(w.message_id) filter (where not g.nonpersistent),
        array_agg(w.message_id) filter (where g.nonpersistent), min(g.sent_at) filter (where not g.nonpersistent),
        min(g.sent_at) filter (where g.nonpersistent), array_agg(w.message_id) filter (where g.apart)
    into v_missing, v_persistent, v_nonpersistent, v_oldest, v_oldest_nonpersistent, v_apart
    from wanted w left join gone g on g.message_id = w.message_id;
    if v_missing is not null then
        v_missing := howdah._consume_published(v_destination, v_missing);
    end if;
    if v_missing is not null then
        raise exception using errcode = 'HD013',
            message = format('message %s is not in queue %s', v_missing[1], quote_literal(queue)),
            hint = 'Messages are consumed in the transaction that received them with howdah.receive_locked, once.';
    end if;
    perform howdah._journal(v_destination, 'consumed', v_persistent, false, null, 'held', v_oldest,
        coalesce(v_apart, '{}'));
    perform howdah._journal(v_destination, 'consumed', v_nonpersistent, true, null, 'held', v_oldest_nonpersistent);
end
$$;
