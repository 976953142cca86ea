-- howdah._pass_stream(p_stream, p_rest, p_from, p_from_seq, p_to, p_last, p_done, p_taken, p_total, p_filled): journal
-- what was read of a part of a stream, and move the cursor over it.
--
-- Raises   40001 a table was emptied meanwhile.
-- Role     internal
--
-- p_stream comes from howdah._begin_stream. p_rest: the part is the rest of the transaction that the cursor has passed
-- in part. p_last: the last number of a run (howdah._find_run); NULL: the part is no run. p_filled: no more messages
-- are wanted.
--
-- The other arguments are the part, as howdah._stream_persistent_0 read it: p_taken messages of it, p_total with the
-- parts before.
--
-- The keys are read again, except for a run without gaps. Rows on their way to the caller cannot be looked at, and a
-- copy of them costs more. If the numbers have no gap, the least and the greatest say it all. If the session last found
-- no gap for this subscription (howdah.gapless), it first tries without a list.
--
-- The cursor may name the greatest number as the last: whatever the last transaction has up to there was read, now or
-- before.
create or replace function howdah._pass_stream(
    p_stream record, p_rest boolean, p_from xid8, p_from_seq bigint, p_to xid8, p_last bigint, p_done pg_snapshot,
    p_taken integer, p_total bigint, p_filled boolean
) returns void
language plpgsql volatile
as $$
declare
    v_journaled boolean := p_stream.journaled;
    v_id integer := p_stream.id;
    -- These are read for each row. A variable is cheaper than a record's field, and a snapshot out of a record is
    -- packed.
    v_topic_id integer := p_stream.topic_id;
    v_upto pg_snapshot := p_stream.upto::text::pg_snapshot;
    v_moment timestamptz := p_stream.moment;
    v_listed boolean := p_taken < 100 or v_id::text is distinct from current_setting('howdah.gapless', true);
    v_hinted boolean := not v_listed;
    v_last xid8;
    v_least bigint;
    v_greatest bigint;
    v_ids bigint[];
    v_gapless boolean;
begin
    if p_taken = 0 or not (v_journaled or p_filled) then
        return;
    end if;
    if p_last - p_from_seq = p_taken then
        v_last := p_to;
        v_least := p_from_seq + 1;
        v_greatest := p_last;
        v_gapless := true;
    else
        loop
            case
                -- for N in 0, 1, 2, MODE in persistent, nonpersistent:
                when p_stream.slot = N and OF_MODE p_stream.nonpersistent then
                    select max(k.xid), min(k.seq), max(k.seq),
                        array_agg(k.seq * 1000000 + v_topic_id) filter (where v_listed)
                    into v_last, v_least, v_greatest, v_ids
                    from howdah._MODE_N(v_topic_id, p_from, p_from_seq, p_to, p_done, v_upto, v_moment,
                        p_taken) k;
                -- end for
                else null;
            end case;
            v_gapless := v_greatest - v_least = p_taken - 1;
            exit when v_gapless or v_listed;
            v_listed := true;
        end loop;
        if v_gapless <> v_hinted and p_taken >= 100 then
            perform set_config('howdah.gapless', case when v_gapless then v_id::text else '' end, false);
        end if;
    end if;
    if v_journaled then
        insert into howdah.journal (at, destination_id, nonpersistent, event, message_ids, last_id)
        values (v_moment, v_id, p_stream.nonpersistent, 'consumed',
            case when v_gapless then array[v_least * 1000000 + v_topic_id] else v_ids end,
            case when v_gapless and p_taken > 1 then v_greatest * 1000000 + v_topic_id end);
    end if;
    if p_filled then
        perform howdah._same_ring(p_stream.ring);
        perform howdah._move_cursor(p_stream.ack_cursor, v_last,
            case when v_gapless then v_greatest else v_ids[p_taken] / 1000000 end, p_total,
            case when p_rest then (p_stream.ack_cursor).snapshot
                 else howdah._cursor_at(p_stream.done, p_stream.upto, v_last) end);
    end if;
end
$$;
