-- pgmq._delete(p_queue, p_numbers, p_again): consume messages by their numbers.
--
-- Returns  the ids in howdah (bigint[]) of those that were there; NULL: none.
-- Raises   as pgmq._refuse.
-- Role     internal
--
-- Most often they are parked, because somebody has read them. The call looks for the rest among the ready ones, and
-- then in the other lanes, if there are any. A message under a lease of howdah.lease belongs to its holder.
--
-- A message that another session moved while this one waited for its row is somewhere else then: p_again looks for it.
create or replace function pgmq._delete(p_queue text, p_numbers bigint[], p_again boolean default true)
returns bigint[]
language plpgsql volatile
    set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
    v_queue record;
    v_now timestamptz := howdah.now();
    v_ids bigint[];
    v_gone bigint[];
    v_apart bigint[];
    v_left bigint[];
begin
    select d.id, d.main_rank as rank, d.keep_bodies_ms is not null as keeps, d.journaled,
        howdah._has_role(d.receivers[1]) or howdah._has_right(d.id, 'receive', d.receivers) as allowed,
        pgmq._message_ids(d.id, p_numbers) as ids
    into v_queue
    from howdah.destinations d where d.name = lower(p_queue) and d.dropped_at is null and d.kind = 'queue';
    if v_queue.allowed is not true then
        perform pgmq._refuse(p_queue, 'receive');
    elsif v_queue.keeps then
        return pgmq._archive(p_queue, p_numbers, false);
    end if;
    v_ids := v_queue.ids;
    with gone as (
        delete from howdah.parked p
        where p.ctid = any (howdah._parked_rows(v_queue.id, v_ids)) and p.lease_id is null and p.boot is null
        returning p.message_id, p.sent_at, p.body is null as apart
    ), listed as materialized (
        select array_agg(g.message_id order by g.message_id) as ids, min(g.sent_at) as oldest_sent_at,
            array_agg(g.message_id) filter (where g.apart) as apart
        from gone g having count(*) > 0
    ), journaled as (
        insert into howdah.journal (at, destination_id, nonpersistent, event, reason, message_ids, oldest_sent_at)
        select v_now, v_queue.id, false, 'consumed', 'held', i.ids, i.oldest_sent_at from listed i
        where v_queue.journaled
    )
    select i.ids, i.apart into v_gone, v_apart from listed i;
    if v_apart is not null then
        perform howdah._drop_bodies(v_apart);
    end if;
    if coalesce(cardinality(v_gone), 0) < cardinality(v_ids) then
        v_left := array(select i.id from unnest(v_ids) i(id) where (i.id = any (v_gone)) is not true);
        select array_agg((t.message).message_id order by (t.message).message_id),
            array_agg((t.message).message_id) filter (where (t.message).body is null)
        into v_left, v_apart
        from pgmq._take_ready(v_queue.id, v_queue.rank, v_left, v_queue.journaled, v_now) t;
        if v_apart is not null then
            perform howdah._drop_bodies(v_apart);
        end if;
        v_gone := v_gone || v_left;
        if p_again and coalesce(cardinality(v_gone), 0) < cardinality(v_ids) then
            v_gone := v_gone || pgmq._delete(p_queue, array(
                select pgmq._number(v_queue.id, i.id) from unnest(v_ids) i(id) where (i.id = any (v_gone)) is not true),
                false);
        end if;
    end if;
    return v_gone;
end
$$;
