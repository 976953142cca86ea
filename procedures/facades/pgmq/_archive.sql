-- pgmq._archive(p_queue, p_numbers, p_forever, p_again): consume messages by their numbers, and keep them: for good, or
-- as long as their queue keeps bodies.
--
-- Returns  the ids in howdah (bigint[]) of those that were there; NULL: none.
-- Raises   as pgmq._refuse.
-- Role     internal
--
-- p_again: as in pgmq._delete.
create or replace function pgmq._archive(
    p_queue text, p_numbers bigint[], p_forever boolean, p_again boolean default true
) returns bigint[]
language plpgsql volatile
    set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
    v_queue record;
    v_now timestamptz := howdah.now();
    v_gone record;
    v_left record;
begin
    select d.id, d.name, d.main_rank as rank, d.journaled,
        case when not p_forever then d.keep_bodies_ms end as keep_ms,
        howdah._has_role(d.receivers[1]) or howdah._has_right(d.id, 'receive', d.receivers) as allowed,
        pgmq._message_ids(d.id, p_numbers) as ids
    into v_queue
    from howdah.destinations d where d.name = lower(p_queue) and d.dropped_at is null and d.kind = 'queue';
    if v_queue.allowed is not true then
        perform pgmq._refuse(p_queue, 'receive');
    end if;
    with gone as (
        delete from howdah.parked p
        where p.ctid = any (howdah._parked_rows(v_queue.id, v_queue.ids)) and p.lease_id is null and p.boot is null
        returning p as stored
    ), listed as materialized (
        select array_agg((g.stored).message_id) as ids, min((g.stored).sent_at) as oldest_sent_at,
            array_agg(howdah._message(howdah._as_ready(g.stored), v_queue.name, false, 0)) as messages,
            array_agg(coalesce((g.stored).reads, 0)) as reads, array_agg((g.stored).due_at) as visible_at,
            array_agg((g.stored).last_read_at) as read_at,
            array_agg((g.stored).message_id) filter (where (g.stored).body is null) as apart
        from gone g having count(*) > 0
    ), journaled as (
        insert into howdah.journal (at, destination_id, nonpersistent, event, reason, message_ids, oldest_sent_at)
        select v_now, v_queue.id, false, 'consumed', 'held', i.ids, i.oldest_sent_at from listed i
        where v_queue.journaled
    )
    select i.* into v_gone from listed i;
    if v_gone.ids is not null then
        perform howdah._keep(v_queue.id, v_gone.messages, v_queue.keep_ms, v_gone.reads, v_gone.visible_at,
            v_gone.read_at);
    end if;
    if coalesce(cardinality(v_gone.ids), 0) < cardinality(v_queue.ids) then
        select array_agg((t.message).message_id) as ids,
            array_agg(howdah._message(t.message, v_queue.name, t.nonpersistent, 0)) as messages,
            array_agg(t.reads) as reads, array_agg(coalesce(t.visible_at, (t.message).sent_at)) as visible_at,
            array_agg(t.read_at) as read_at,
            array_agg((t.message).message_id) filter (where (t.message).body is null) as apart
        into v_left
        from pgmq._take_ready(v_queue.id, v_queue.rank,
            array(select i.id from unnest(v_queue.ids) i(id) where (i.id = any (v_gone.ids)) is not true),
            v_queue.journaled, v_now) t;
        if v_left.ids is not null then
            perform howdah._keep(v_queue.id, v_left.messages, v_queue.keep_ms, v_left.reads, v_left.visible_at,
                v_left.read_at);
            perform howdah._drop_bodies(v_left.apart) where v_left.apart is not null;
        end if;
        v_gone.ids := v_gone.ids || v_left.ids;
        if p_again and coalesce(cardinality(v_gone.ids), 0) < cardinality(v_queue.ids) then
            v_gone.ids := v_gone.ids || pgmq._archive(p_queue, array(
                select pgmq._number(v_queue.id, i.id) from unnest(v_queue.ids) i(id)
                where (i.id = any (v_gone.ids)) is not true), p_forever, false);
        end if;
    end if;
    perform howdah._drop_bodies(v_gone.apart) where v_gone.apart is not null;
    return v_gone.ids;
end
$$;
