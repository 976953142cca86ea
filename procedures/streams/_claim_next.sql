-- howdah._claim_next(p_slot, p_nonpersistent, p_topic_id, p_cursor, p_n, …): take the next message of a shared
-- subscription that is not done and that nobody else has.
--
-- Returns  one row: the message's columns; all are NULL if there is none. kept: the caller has it now. If not, somebody
--          had finished with it. moved, blamed: as in howdah._claim_free.
-- Raises   40001 a table was emptied meanwhile.
-- Role     internal
--
-- It is howdah._claim_free for one message, with the same arguments. The row comes with the claim.
create or replace function howdah._claim_next(
    p_slot integer, p_nonpersistent boolean, p_topic_id integer, p_cursor integer, p_n bigint, p_after xid8,
    p_after_seq bigint, p_to xid8, p_done pg_snapshot, p_upto pg_snapshot, p_now timestamptz, p_failing regclass,
    p_hold boolean,
    out xid xid8, out seq bigint, out sent_at timestamptz, out expires_at timestamptz, out rank smallint,
    out is_text boolean, out content_type text, out body bytea, out headers jsonb, out correlation_id text,
    out reply_to text, out message_type text, out conversation_id uuid, out reliability smallint, out kept boolean,
    out moved boolean, out blamed boolean
) returns record
language plpgsql volatile
as $$
declare
    v_secret bigint := howdah._lock_key('published', p_cursor::text);
    v_now howdah.ack_cursors;
begin
    case
        -- for N in 0, 1, 2, MODE in persistent, nonpersistent:
        when p_slot = N and OF_MODE p_nonpersistent then
            select t.xid, t.seq, t.sent_at, t.expires_at, t.rank, t.is_text, t.content_type, t.body, t.headers,
                t.correlation_id, t.reply_to, t.message_type, t.conversation_id, t.reliability
            into xid, seq, sent_at, expires_at, rank, is_text, content_type, body, headers, correlation_id, reply_to,
                message_type, conversation_id, reliability
            from howdah._MODE_N(p_topic_id, p_after, p_after_seq, p_to, p_done, p_upto, p_now, null) t
            where case
                when (select true from howdah.acked a where a.ack_id = p_cursor and a.seq = t.seq limit 1) then false
                else pg_try_advisory_xact_lock(hashint8extended(t.seq, v_secret)) end
            limit 1;
        -- end for
    end case;
    if seq is null then
        return;
    end if;
    -- Asked after the locks: the first failure may have been recorded since the call began.
    if pg_sequence_last_value(p_failing) is not null and exists (select from howdah.poison_details p
            where p.message_id = _claim_next.seq * 1000000 + p_topic_id) then
        blamed := true;
        return;
    end if;
    if p_hold then
        kept := (select true from howdah.acked a where a.ack_id = p_cursor and a.seq = _claim_next.seq limit 1) is null;
    else
        insert into howdah.acked (ack_id, seq, xid)
        select p_cursor, _claim_next.seq, _claim_next.xid
        where (select true from howdah.acked a
            where a.ack_id = p_cursor and a.seq = _claim_next.seq limit 1) is null;
        kept := found;
    end if;
    select c.* into v_now from howdah.ack_cursors c where c.ack_id = p_cursor order by c.n desc limit 1;
    if v_now.n is distinct from p_n then
        moved := true;
        if kept and howdah._is_passed(v_now, xid, seq) is not false then
            kept := false;
            delete from howdah.acked a where not p_hold and a.ack_id = p_cursor and a.seq = _claim_next.seq;
        end if;
    end if;
end
$$;
