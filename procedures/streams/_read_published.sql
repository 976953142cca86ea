-- howdah._read_published(p_destination, p_subscription, p_ack, p_name, p_want): take the next messages of a topic, and
-- move the cursor over them.
--
-- Returns  up to p_want rows of howdah.message, in reading order.
-- Role     internal
--
-- The caller has locked the subscription. Messages that it does not want, that have expired or that reached their limit
-- are skipped. With a filter, a page may hold nothing that is wanted, so a page has at least a thousand messages.
create or replace function howdah._read_published(
    p_destination howdah.destinations, p_subscription howdah.subscriptions, p_ack howdah.acks, p_name text,
    p_want integer
) returns setof howdah.message
language plpgsql volatile
    set plan_cache_mode = force_generic_plan
as $$
declare
    v_cursor howdah.ack_cursors := howdah._cursor(p_ack.id);
    v_ring bigint := howdah._truncations();
    v_upto pg_snapshot := howdah._snapshot();
    v_now timestamptz := howdah.now();
    v_topic text := howdah._destination_name(p_ack.destination_id);
    v_failing boolean := pg_sequence_last_value(p_destination.failing) is not null;
    v_least integer := case when p_subscription.selector_sql is null and not p_subscription.prioritized then 1
        else 1000 end;
    v_segment record;
    v_taken integer;
    v_last howdah.ack_cursors;
begin
    -- drop_topic deletes the cursors of wildcards without waiting for their readers.
    if v_cursor.n is null then
        return;
    end if;
    for v_segment in select * from howdah._segments(v_cursor, p_ack.destination_id, v_upto) loop
        loop
            return query
            with page as materialized (
                select p.* from howdah._page(p_subscription, p_ack, v_segment.slots, v_segment.from_xid,
                    v_segment.from_seq, v_segment.to_xid, v_upto, greatest(p_want, v_least)) p
            ), taken as materialized (
                select p.* from page p where p.wanted and not p.done limit p_want
            ), step as (
                -- The cursor goes as far as the messages taken, or over the page; at the end of the topic, up to the
                -- snapshot.
                insert into howdah.ack_cursors (ack_id, n, xid, seq, delivered, at, snapshot)
                select p_ack.id, v_cursor.n + 1, case when e.ended then '3' else l.xid end,
                case when e.ended then -1 else l.seq end,
                    v_cursor.delivered + e.taken, v_now,
                    case when e.ended then v_upto else howdah._cursor_after(v_cursor, v_upto, l.xid) end
                from (
                    select c.taken, c.taken = p_want as filled,
                        c.taken < p_want and c.seen < greatest(p_want, v_least)
                        and v_segment.to_xid = pg_snapshot_xmax(v_upto) as ended
                    from (select (select count(*) from taken) as taken, (select count(*) from page) as seen) c
                ) e
                cross join lateral (
                    (select t.xid, t.seq from taken t where e.filled order by t.xid desc, t.seq desc limit 1)
                    union all
                    (select p.xid, p.seq from page p where not e.filled order by p.xid desc, p.seq desc limit 1)
                ) l
                on conflict do nothing
            ), passed as (
                delete from howdah.acked a
                where a.ack_id = p_ack.id
                  and a.seq = any (array(
                      select p.seq from page p
                      where p.done and ((select count(*) from taken) < p_want
                         or (p.xid, p.seq) < (select t.xid, t.seq from taken t order by t.xid desc, t.seq desc
                             limit 1))))
            ), failed as materialized (
                select f.*
                from (select array_agg(t.message_id) as ids, array_agg(0::smallint) as stages,
                    array_agg(t.conversation_id) as conversations,
                                array_agg(howdah._group(t.headers, t.conversation_id)) as groups
                      from taken t) a
                cross join lateral howdah._count_failures(p_destination.id, a.ids, a.stages, a.conversations,
                    a.groups) f
                where v_failing and cardinality(a.ids) > 0
            ), counted as materialized (
                select t.*, coalesce(f.failures, 0) as failures,
                coalesce(f.weight, 0) >= p_destination.dispose_at as ended
                from taken t left join failed f on f.message_id = t.message_id and f.stage = 0
            ), journaled as (
                insert into howdah.journal (at, destination_id, nonpersistent, event, message_ids, oldest_sent_at)
                select v_now, p_destination.id, c.nonpersistent, 'consumed', array_agg(c.message_id), min(c.sent_at)
                from counted c where not c.ended and p_destination.journal_level <> 'off'
                group by c.nonpersistent
            )
            select c.message_id, p_name,
                CONTENT_OF c,
                case when c.nonpersistent then 'non-persistent' else 'persistent' end, c.sent_at, c.expires_at,
                c.failures + 1, c.failures > 0, c.seq, 0, v_topic, null::text, null::timestamptz,
                howdah._level_name(c.reliability, c.nonpersistent)
            from counted c
            where not c.ended or howdah._dispose_published(p_destination, c.message_id, c.sent_at, c.expires_at, c.rank,
                c.is_text, c.content_type, c.body, c.headers, c.correlation_id, c.reply_to, c.message_type,
                c.conversation_id,
                c.nonpersistent, c.reliability, v_now);
            get diagnostics v_taken = row_count;
            p_want := p_want - v_taken;
            v_last := howdah._cursor(p_ack.id);
            if v_last.n is null then
                return;
            end if;
            exit when v_last.n = v_cursor.n;
            v_cursor := v_last;
            exit when p_want <= 0 or v_cursor.seq < 0;
            v_segment.from_xid := v_cursor.xid;
            v_segment.from_seq := v_cursor.seq;
        end loop;
        exit when p_want <= 0;
    end loop;
    perform howdah._same_ring(v_ring);
    -- An idle reader writes where it would otherwise read a closed table again and again.
    if p_want > 0
       and (v_cursor.seq >= 0 or cardinality(howdah._slots_from(pg_snapshot_xmax(v_cursor.snapshot))) > 1) then
        v_cursor := howdah._move_cursor(v_cursor, '3', -1, 0, v_upto);
    end if;
end
$$;
