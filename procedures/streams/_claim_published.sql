-- howdah._claim_published(p_destination, p_subscription, p_ack, p_name, p_want, p_hold): take or hold messages of a
-- topic beside other consumers.
--
-- Returns  up to p_want rows of howdah.message, in reading order.
-- Role     internal
--
-- It works page by page. howdah._lock_page locks as many messages as are wanted. Another statement looks at them again,
-- because a former holder may have finished with a message meanwhile.
--
-- If others finished with a whole page and moved the cursor over it, the walk continues from the new cursor. Otherwise
-- it would lock each of thousands of messages on the way.
create or replace function howdah._claim_published(
    p_destination howdah.destinations, p_subscription howdah.subscriptions, p_ack howdah.acks, p_name text,
    p_want integer, p_hold boolean
) returns setof howdah.message
language plpgsql volatile
as $$
declare
    v_cursor howdah.ack_cursors := howdah._cursor(p_ack.id);
    v_upto pg_snapshot := howdah._snapshot();
    v_now timestamptz := howdah.now();
    v_size integer := greatest(p_want * 2, 32);
    v_left integer := p_want;
    v_segment record;
    v_page record;
    v_gone bigint[];
    v_failed bigint[];
    v_failures integer[];
    v_taken integer;
    v_passed bigint := 0;
    v_blocked boolean := false;
    v_seqs bigint[] := '{}';
    v_xids xid8[] := '{}';
    v_modes boolean[] := '{}';
begin
    <<walk>>
    loop
        <<segments>>
        for v_segment in select * from howdah._segments(v_cursor, p_ack.destination_id, v_upto) loop
            loop
                select l.* into v_page
                from howdah._lock_page(p_subscription, p_ack, p_name, v_segment.slots, v_segment.from_xid,
                    v_segment.from_seq, v_segment.to_xid, v_upto, v_size, v_left) l;
                if not v_blocked then
                    v_passed := v_passed + v_page.passed;
                    v_blocked := v_page.blocked;
                end if;
                if v_page.taken > 0 then
                    v_gone := '{}';
                    if p_subscription.shared then
                        -- This is a statement of its own, with a snapshot taken after the locks: whoever held one
                        -- before has committed by then.
                        v_gone := array(
                            select u.seq
                            from unnest(v_page.seqs, v_page.xids) u(seq, xid)
                            cross join (select c as cursor from howdah.ack_cursors c where c.ack_id = p_ack.id
                                order by c.n desc limit 1) c
                            where (select true from howdah.acked a where a.ack_id = p_ack.id and a.seq = u.seq limit 1)
                               or howdah._is_passed(c.cursor, u.xid, u.seq));
                        if v_seqs = '{}' and cardinality(v_gone) = v_page.taken
                           and (howdah._cursor(p_ack.id)).n <> v_cursor.n then
                            v_cursor := howdah._cursor(p_ack.id);
                            v_upto := howdah._snapshot();
                            v_passed := 0;
                            v_blocked := false;
                            continue walk;
                        end if;
                    end if;
                    if pg_sequence_last_value(p_destination.failing) is not null then
                        select e.failed, e.failures, v_gone || e.ended into v_failed, v_failures, v_gone
                        from howdah._end_published(p_destination, p_ack.id, v_page.messages, v_gone, v_page.seqs,
                            v_page.xids, v_now) e;
                        return query
                        select m.message_id, m.queue, m.body, m.bytes, m.content_type, m.headers, m.priority,
                            m.correlation_id, m.reply_to, m.message_type, m.conversation_id, m.delivery_mode, m.sent_at,
                            m.expires_at, 1 + coalesce(v_failures[array_position(v_failed, m.message_id)], 0),
                            array_position(v_failed, m.message_id) is not null, m."position", m.stage, m.origin_queue,
                            m.dead_reason, m.dead_at, m.reliability
                        from unnest(v_page.messages) m where m."position" <> all (v_gone);
                    else
                        return query select m.* from unnest(v_page.messages) m where m."position" <> all (v_gone);
                    end if;
                    get diagnostics v_taken = row_count;
                    v_left := v_left - v_taken;
                    if v_gone = '{}' then
                        v_seqs := v_seqs || v_page.seqs;
                        v_xids := v_xids || v_page.xids;
                        v_modes := v_modes || v_page.modes;
                    else
                        select v_seqs || array_agg(u.seq), v_xids || array_agg(u.xid),
                            v_modes || array_agg(u.mode) into v_seqs, v_xids, v_modes
                        from unnest(v_page.seqs, v_page.xids, v_page.modes) u(seq, xid, mode)
                        where u.seq <> all (v_gone);
                    end if;
                    exit segments when v_left = 0;
                end if;
                exit when v_page.seen < v_size and not v_page.filled;
                v_segment.from_xid := case when v_page.filled then v_page.xids[v_page.taken] else v_page.last_xid end;
                v_segment.from_seq := case when v_page.filled then v_page.seqs[v_page.taken] else v_page.last_seq end;
                v_size := least(v_size * 2, greatest(v_size, 1000));
            end loop;
        end loop;
        exit walk;
    end loop;
    if not p_hold and cardinality(v_seqs) > 0 then
        perform howdah._acknowledge(p_destination, p_ack, v_seqs, v_xids, v_modes, null);
    end if;
    -- The cursor can only pass what is done before the first message that others have in hand.
    if not p_hold and (v_passed > 16 or v_passed > 0 and v_left > 0) and (howdah._cursor(p_ack.id)).n = v_cursor.n then
        perform howdah._advance_cursor(p_subscription, p_ack);
    end if;
end
$$;
