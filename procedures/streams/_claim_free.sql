-- howdah._claim_free(p_slot, p_nonpersistent, p_topic_id, p_cursor, p_n, p_after, …): take the next messages of a
-- shared subscription that are not done and that nobody else has.
--
-- Returns  one row. xids and seqs: the transactions and positions of messages, in reading order, that the caller has
--          now. last_xid and last_seq: the last one that was locked, whether somebody had finished with it or not.
--          locked: how many were locked, up to p_want. moved: the cursor is no longer where it was. blamed: one of them
--          failed before; all are locked, but none is recorded.
-- Raises   40001 a table was emptied meanwhile.
-- Role     internal
--
-- p_cursor and p_n: the cursor and its step, from which the part to read was found; p_after to p_want as in
-- howdah._persistent_N. p_failing: the sequence that tells whether something failed. With p_hold, nothing is recorded
-- as done.
--
-- It looks up whether a message is done by its key, or for some positions together, so it meets few dead rows. Only
-- what is not done is locked. Two messages may share a lock. The second is then skipped until the first one's
-- transaction ends.
--
-- Then it reads acked once more, with a snapshot taken after the locks. Whoever held one before has committed by then,
-- and its work is still in acked, unless the cursor has passed it. So it reads the cursor last.
create or replace function howdah._claim_free(
    p_slot integer, p_nonpersistent boolean, p_topic_id integer, p_cursor integer, p_n bigint, p_after xid8,
    p_after_seq bigint, p_to xid8, p_done pg_snapshot, p_upto pg_snapshot, p_now timestamptz, p_want integer,
    p_failing regclass, p_hold boolean,
    out xids xid8[], out seqs bigint[], out last_xid xid8, out last_seq bigint, out locked integer, out moved boolean,
    out blamed boolean
) returns record
language plpgsql volatile
as $$
declare
    v_secret bigint := howdah._lock_key('published', p_cursor::text);
    -- A snapshot out of a record is packed, and would be unpacked for each row.
    v_upto pg_snapshot := p_upto::text::pg_snapshot;
    v_done pg_snapshot := p_done::text::pg_snapshot;
    -- Near the beginning all is asked for at once.
    v_near bigint := case when p_after_seq >= 0 then p_after_seq + 4 * p_want + 512 else -1 end;
    v_least bigint;
    v_greatest bigint;
    v_dense boolean;
    v_kept bigint[];
    v_now howdah.ack_cursors;
begin
    case
        -- for N in 0, 1, 2, MODE in persistent, nonpersistent:
        when p_slot = N and OF_MODE p_nonpersistent then
            select array_agg(k.xid), array_agg(k.seq) into xids, seqs
            from (
                select t.xid, t.seq
                from howdah._MODE_N(p_topic_id, p_after, p_after_seq, p_to, v_done, v_upto, p_now, null) t
                where case
                    when case when t.seq between p_after_seq and v_near
                        then t.seq in (select a.seq from howdah.acked a
                            where a.ack_id = p_cursor and a.seq between p_after_seq and v_near)
                        else (select true from howdah.acked a
                            where a.ack_id = p_cursor and a.seq = t.seq limit 1) end
                        then false
                    else pg_try_advisory_xact_lock(hashint8extended(t.seq, v_secret)) end
                limit p_want) k;
        -- end for
    end case;
    locked := coalesce(cardinality(seqs), 0);
    if locked = 0 then
        return;
    end if;
    -- Asked after the locks: the first failure may have been recorded since the call began.
    if pg_sequence_last_value(p_failing) is not null and exists (select from unnest(seqs) u(seq)
            join howdah.poison_details p on p.message_id = u.seq * 1000000 + p_topic_id) then
        blamed := true;
        return;
    end if;
    last_xid := xids[locked];
    last_seq := seqs[locked];
    if p_hold then
        v_kept := array(select u.seq from unnest(seqs) u(seq)
            where (select true from howdah.acked a where a.ack_id = p_cursor and a.seq = u.seq limit 1) is null);
    elsif locked = 1 then
        insert into howdah.acked (ack_id, seq, xid)
        select p_cursor, last_seq, last_xid
        where (select true from howdah.acked a where a.ack_id = p_cursor and a.seq = last_seq limit 1) is null;
        v_kept := case when found then seqs end;
    else
        select min(u.seq), max(u.seq) into v_least, v_greatest from unnest(seqs) u(seq);
        v_dense := v_greatest - v_least < 4 * locked;
        with noted as (
            insert into howdah.acked (ack_id, seq, xid)
            select p_cursor, u.seq, u.xid from unnest(xids, seqs) u(xid, seq)
            where case when v_dense
                then u.seq not in (select a.seq from howdah.acked a
                    where a.ack_id = p_cursor and a.seq between v_least and v_greatest)
                else (select true from howdah.acked a where a.ack_id = p_cursor and a.seq = u.seq limit 1) is null end
            returning seq
        )
        select array_agg(n.seq) into v_kept from noted n;
    end if;
    select c.* into v_now from howdah.ack_cursors c where c.ack_id = p_cursor order by c.n desc limit 1;
    if v_now.n is distinct from p_n then
        moved := true;
        delete from howdah.acked a
        where a.ack_id = p_cursor and a.seq = any (v_kept) and not p_hold
          and (v_now.n is null or howdah._is_passed(v_now, a.xid, a.seq));
        v_kept := array(select u.seq from unnest(xids, seqs) u(xid, seq)
            where u.seq = any (v_kept) and not howdah._is_passed(v_now, u.xid, u.seq));
    end if;
    if cardinality(v_kept) is distinct from locked then
        select array_agg(u.xid), array_agg(u.seq) into xids, seqs
        from unnest(xids, seqs) u(xid, seq) where u.seq = any (v_kept);
    end if;
end
$$;
