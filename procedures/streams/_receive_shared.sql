-- howdah._receive_shared(p_stream, p_name, p_want, p_hold, p_plain): receive from a usual subscription that several
-- consumers share.
--
-- Returns  up to p_want rows of howdah.message, in reading order; at most four times max_locks_per_transaction.
-- Raises   40001 as howdah._persistent_N.
-- Role     internal
--
-- p_stream comes from howdah._begin_stream; the other arguments are those of howdah._receive_stream.
--
-- It begins at the cursor. A message there is done, in hand or free. One that a rollback returned is free at once, and
-- comes first. Messages are claimed by advisory locks and recorded as done; then their rows are read.
--
-- If others finished with all that was claimed and moved the cursor over it, the walk begins anew at the cursor.
-- Otherwise it would lock each of thousands of messages on the way.
create or replace function howdah._receive_shared(
    p_stream record, p_name text, p_want integer, p_hold boolean, p_plain boolean
) returns setof howdah.message
language plpgsql volatile
as $$
declare
    v_place record;
    v_claimed record;
    v_one record;
    v_want integer := least(p_want, 4 * current_setting('max_locks_per_transaction')::integer);
    v_left integer := v_want;
    v_after xid8;
    v_after_seq bigint;
    v_last bigint;
    v_held bigint[] := '{}';
begin
    <<walk>>
    loop
        v_place := howdah._place_shared(p_stream, p_plain);
        exit walk when v_place.slot is null;
        for v_way in case when v_place.rest_xid is null then 2 else 1 end..2 loop
            v_after := case when v_way = 1 then v_place.rest_xid else v_place.after end;
            v_after_seq := case when v_way = 1 then v_place.rest_seq else v_place.after_seq end;
            loop
                if v_left = 1 then
                    v_one := howdah._claim_next(v_place.slot, v_place.nonpersistent, v_place.topic_id, v_place.ack_id,
                        v_place.n, v_after, v_after_seq,
                        case when v_way = 1 then v_after else pg_snapshot_xmax(v_place.upto) end,
                        case when v_way = 2 then v_place.done end, v_place.upto, p_stream.moment, p_stream.failing,
                        p_hold);
                    exit when v_one.seq is null;
                    if v_one.blamed then
                        v_place.slot := null;
                        exit walk;
                    end if;
                    if v_one.kept then
                        return next row(v_one.seq * 1000000 + v_place.topic_id, p_name,
                            CONTENT_OF v_one,
                            case when v_place.nonpersistent then 'non-persistent' else 'persistent' end, v_one.sent_at,
                            v_one.expires_at, 1, false, v_one.seq, 0, p_stream.topic, null, null,
                            howdah._level_name(v_one.reliability, v_place.nonpersistent))::howdah.message;
                        if not p_hold and p_stream.journaled then
                            insert into howdah.journal (at, destination_id, nonpersistent, event, message_ids)
                            values (p_stream.moment, p_stream.id, v_place.nonpersistent, 'consumed',
                                array[v_one.seq * 1000000 + v_place.topic_id]);
                        end if;
                        v_last := v_one.seq;
                        v_left := 0;
                        exit walk;
                    end if;
                    continue walk when v_one.moved and v_want = 1;
                    v_after := v_one.xid;
                    v_after_seq := v_one.seq;
                    continue;
                end if;
                v_claimed := howdah._claim_free(v_place.slot, v_place.nonpersistent, v_place.topic_id,
                    v_place.ack_id, v_place.n, v_after, v_after_seq,
                    case when v_way = 1 then v_after else pg_snapshot_xmax(v_place.upto) end,
                    case when v_way = 2 then v_place.done end, v_place.upto, p_stream.moment, v_left,
                    p_stream.failing, p_hold);
                exit when v_claimed.locked = 0;
                if v_claimed.blamed then
                    v_place.slot := null;
                    exit walk;
                end if;
                if v_claimed.seqs is not null then
                    return query select * from howdah._read_claimed(v_place.slot, v_place.nonpersistent,
                        v_place.topic_id, p_stream.topic, p_name, v_claimed.xids, v_claimed.seqs, v_place.upto,
                        p_stream.moment);
                    if not p_hold and p_stream.journaled then
                        perform howdah._journal_claimed(p_stream.id, v_place.topic_id,
                            v_place.nonpersistent, v_claimed.seqs, p_stream.moment);
                    end if;
                    v_last := v_claimed.last_seq;
                    v_left := v_left - cardinality(v_claimed.seqs);
                    if p_hold then
                        v_held := v_held || v_claimed.seqs;
                    end if;
                    exit walk when v_left = 0;
                elsif v_claimed.moved and v_left = v_want then
                    continue walk;
                end if;
                v_after := v_claimed.last_xid;
                v_after_seq := v_claimed.last_seq;
            end loop;
        end loop;
        exit walk;
    end loop;
    if v_place.slot is null then
        -- Something in the rest is not usual. What was only held is not recorded, and would come once more.
        return query
        select m.* from howdah.destinations d
        join howdah.subscriptions s on s.destination_id = d.id
        cross join howdah._receive_published(d, s, p_name, case when p_hold then v_want else v_left end, p_hold) m
        where d.id = p_stream.id and m.message_id / 1000000 <> all (v_held)
        limit v_left;
        return;
    end if;
    -- The cursor can only pass what is done before the first message that others have in hand.
    if not p_hold and (v_left > 0 or v_place.seq < 0 or v_last - v_place.seq > 16) then
        perform howdah._pass_done(v_place, v_last, p_stream.ring, p_stream.moment);
    end if;
end
$$;
