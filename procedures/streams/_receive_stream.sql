-- howdah._receive_stream(p_name, p_want, p_hold, p_selector, p_consumer, p_plain): receive from a subscription.
--
-- Returns  up to p_want rows of howdah.message.
-- Raises   HD005 p_selector is given; HD005, HD009, HD016, HD024, HD025, HD032 as howdah._begin_stream; 40001 as
--          howdah._persistent_N.
-- Role     internal
--
-- Where one reader alone reads one topic, the rows go straight from the tables into the result. The result of another
-- function would be copied into this one's. howdah._receive_shared serves usual subscriptions with several readers, and
-- howdah._receive_published all others.
--
-- The rest of a transaction that was read in part comes first, then what is new. Late commits are among the new rows:
-- their ids are lower than those of all transactions begun since the cursor's snapshot. A long run of one transaction
-- is read as a run, so that its messages need not be looked at again.
create or replace function howdah._receive_stream(
    p_name text, p_want integer, p_hold boolean, p_selector text, p_consumer bigint, p_plain boolean
) returns setof howdah.message
language plpgsql volatile
as $$
declare
    v_stream record;
    v_topic text;
    v_topic_id integer;
    v_now timestamptz;
    v_left integer;
    v_taken integer;
    v_from bigint;
    v_from_xid xid8;
    v_to xid8;
    v_done pg_snapshot;
    v_upto pg_snapshot;
    v_run_xid xid8;
    v_run_after bigint;
    v_run_upto bigint;
    v_dense boolean;
begin
    if btrim(p_selector) <> '' then
        raise exception using errcode = 'HD005',
            message = format('%s is no queue: a selector is for queues', quote_literal(p_name)),
            hint = 'A subscription has its selector from howdah.subscribe.';
    end if;
    if pg_sequence_last_value('howdah.senders_noted'::regclass) is not null then
        perform howdah._discard_of_gone(t.id)
        from (select distinct a.destination_id as id from howdah.destinations d
              join howdah.acks a on a.subscription_id = d.id where d.name = p_name and d.dropped_at is null) t;
    end if;
    v_stream := howdah._begin_stream(p_name, p_hold, p_plain, p_consumer);
    if v_stream.usual then
        return query select * from howdah._receive_shared(v_stream, p_name, p_want, p_hold, p_plain);
        return;
    elsif v_stream.slot is null then
        return query
        select m.* from howdah.destinations d
        join howdah.subscriptions s on s.destination_id = d.id
        cross join howdah._receive_published(d, s, p_name, p_want, p_hold) m
        where d.id = v_stream.id and s.transformation is null
        union all
        select m.* from howdah.subscriptions s
        cross join howdah._receive_transformed(s.destination_id, s.transformation, p_name, p_want, p_hold) m
        where s.destination_id = v_stream.id and s.transformation is not null;
        return;
    end if;
    v_topic := v_stream.topic;
    v_topic_id := v_stream.topic_id;
    -- A snapshot that comes out of a record is packed, and would be unpacked for each row.
    v_upto := v_stream.upto::text::pg_snapshot;
    v_now := v_stream.moment;
    v_left := p_want;
    v_from_xid := (v_stream.ack_cursor).xid;
    v_from := (v_stream.ack_cursor).seq;
    v_to := v_from_xid;
    for v_way in case when v_from >= 0 then 1 else 2 end..2 loop
        if v_way = 2 then
            v_from_xid := coalesce(v_stream.late, pg_snapshot_xmax(v_stream.done));
            v_from := -1;
            v_to := pg_snapshot_xmax(v_upto);
            v_done := case when v_stream.late is not null then v_stream.done end;
        end if;
        v_dense := true;
        loop
            v_run_upto := null;
            if v_left >= 500 and v_done is null and v_dense then
                select r.xid, r.after_seq, r.upto_seq into v_run_xid, v_run_after, v_run_upto
                from howdah._find_run(v_stream, v_from_xid, v_from, v_to, v_left) r;
                exit when v_run_xid is null;
                v_dense := v_run_upto - v_run_after >= 500;
                v_run_upto := case when v_dense then v_run_upto end;
            end if;
            if v_run_upto is not null then
                v_from_xid := v_run_xid;
                v_from := v_run_after;
            end if;
            case
                -- for N in 0, 1, 2, MODE in persistent, nonpersistent:
                when v_stream.slot = N and OF_MODE v_stream.nonpersistent then
                    if v_run_upto is not null then
                        return query select * from howdah._run_MODE_N(p_name, v_topic, v_topic_id, v_run_xid,
                            v_run_after, v_run_upto, v_now);
                    else
                        return query select * from howdah._stream_MODE_N(
                            p_name, v_topic, v_topic_id, v_from_xid, v_from, v_to, v_done, v_upto, v_now, v_left);
                    end if;
                -- end for
                else null;
            end case;
            get diagnostics v_taken = row_count;
            v_left := v_left - v_taken;
            perform howdah._pass_stream(v_stream, v_way = 1, v_from_xid, v_from,
                case when v_run_upto is null then v_to else v_run_xid end, v_run_upto, v_done, v_taken,
                p_want - v_left, v_left = 0);
            if v_left = 0 then
                return;
            end if;
            exit when v_run_upto is null;
            v_dense := v_taken = v_run_upto - v_from;  -- where numbers are missing, the rest comes in one piece
            v_from := v_run_upto;
        end loop;
    end loop;
    perform howdah._end_stream(v_stream, p_want - v_left);
end
$$;
