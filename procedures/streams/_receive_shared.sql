-- howdah._receive_shared(p_stream, p_name, p_want, p_hold, p_consumer, p_plain): receive from a usual subscription that
-- several consumers share.
--
-- Returns  up to p_want rows of howdah.message, in reading order; at most four times max_locks_per_transaction.
-- Raises   HD005, HD009, HD016, HD024, HD025, HD032 as howdah._begin_stream; 40001 as howdah._persistent_N.
-- Role     internal
--
-- p_stream comes from howdah._begin_stream; the other arguments are those of howdah._receive_stream.
--
-- It begins at the cursor. What lies there is done, in hand or free. What a rollback returned is free at once, and
-- comes first. Messages are claimed by advisory locks, looked at again, and recorded as done; then their rows are read.
--
-- If others finished with all that was claimed and moved the cursor over it, the walk begins anew at the cursor.
-- Otherwise it would lock each of thousands of messages on the way.
create or replace function howdah._receive_shared(
    p_stream record, p_name text, p_want integer, p_hold boolean, p_consumer bigint, p_plain boolean
) returns setof howdah.message
language plpgsql volatile
as $$
declare
    v_destination howdah.destinations := p_stream.destination;
    v_stream record := p_stream;
    v_want integer := least(p_want, 4 * current_setting('max_locks_per_transaction')::integer);
    v_left integer := v_want;
    v_part record;
    v_claimed record;
    v_kept bigint[];
    v_number integer;
    v_last bigint;
begin
    <<walk>>
    loop
        for v_way in 1..2 loop
            v_part := howdah._part(v_stream, v_way);
            continue when v_part.after is null;
            loop
                v_claimed := howdah._claim_free(v_stream, v_part, v_left);
                exit when v_claimed.seqs is null;
                v_number := cardinality(v_claimed.seqs);
                v_part.after := v_claimed.xids[v_number];
                v_part.after_seq := v_claimed.seqs[v_number];
                v_kept := howdah._keep_claimed(v_stream, v_claimed.xids, v_claimed.seqs, p_hold);
                if v_kept is null and v_left = v_want
                   and (howdah._cursor((v_stream.ack_cursor).ack_id)).n <> (v_stream.ack_cursor).n then
                    v_stream := howdah._begin_stream(p_name, p_hold, p_plain, p_consumer);
                    continue walk when v_stream.slot is not null;
                    return query select * from howdah._receive_published(v_destination, v_stream.subscription, p_name,
                        v_left, p_hold);
                    return;
                elsif v_kept is not null then
                    if cardinality(v_kept) < v_number then
                        select array_agg(u.xid), array_agg(u.seq) into v_claimed.xids, v_claimed.seqs
                        from unnest(v_claimed.xids, v_claimed.seqs) u(xid, seq) where u.seq = any (v_kept);
                    end if;
                    return query select * from howdah._read_claimed(v_stream, p_name, v_claimed.xids, v_claimed.seqs);
                    if not p_hold then
                        perform howdah._journal_stream(v_stream, v_claimed.seqs);
                    end if;
                    v_left := v_left - cardinality(v_kept);
                    v_last := v_part.after_seq;
                end if;
                exit walk when v_left = 0;
                exit when v_number < v_left + coalesce(cardinality(v_kept), 0);
            end loop;
        end loop;
        exit walk;
    end loop;
    -- The cursor can only pass what is done before the first message that others have in hand.
    if not p_hold and (v_left > 0 or (v_stream.ack_cursor).seq < 0 or v_last - (v_stream.ack_cursor).seq > 16) then
        perform howdah._pass_done(v_stream);
    end if;
end
$$;
