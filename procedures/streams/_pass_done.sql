-- howdah._pass_done(p_stream): move the cursor of a shared subscription over what is done, up to the first message that
-- is not, or that is leased.
--
-- Raises   40001 a table was emptied meanwhile.
-- Role     internal
--
-- p_stream comes from howdah._begin_stream. It does what howdah._advance_cursor does, for at most 10,000 messages of a
-- usual subscription. If somebody else is doing it, or has done it since, it does nothing.
create or replace function howdah._pass_done(p_stream record) returns void
language plpgsql volatile
as $$
declare
    v_topic_id integer := p_stream.topic_id;
    v_cursor howdah.ack_cursors := p_stream.ack_cursor;
    v_ack_id integer := v_cursor.ack_id;
    v_upto pg_snapshot := p_stream.upto::text::pg_snapshot;
    v_moment timestamptz := p_stream.moment;
    v_done pg_snapshot;
    v_part record;
    v_number bigint;
    v_keys record;
    v_xid xid8;
    v_seqs bigint[] := '{}';
begin
    if not pg_try_advisory_xact_lock(howdah._lock_key('cursor', v_ack_id::text))
       or (howdah._cursor(v_ack_id)).n <> v_cursor.n or howdah._truncations() <> p_stream.ring then
        return;
    end if;
    for v_way in 1..2 loop
        v_part := howdah._part(p_stream, v_way);
        continue when v_part.after is null;
        v_done := v_part.done::text::pg_snapshot;
        case
            -- for N in 0, 1, 2:
            when p_stream.slot = N and not p_stream.nonpersistent then
                select k.number into v_number
                from (select t.seq, row_number() over () as number
                      from howdah._persistent_N(v_topic_id, v_part.after, v_part.after_seq, v_part.to_xid, v_done,
                          v_upto, v_moment, 10000) t) k
                where (select true from howdah.acked a
                    where a.ack_id = v_ack_id and a.seq = k.seq and a.lease_id is null limit 1) is null
                limit 1;
                select max(t.xid) as xid, array_agg(t.seq) as seqs into v_keys
                from howdah._persistent_N(v_topic_id, v_part.after, v_part.after_seq, v_part.to_xid, v_done, v_upto,
                    v_moment, coalesce(v_number - 1, 10000)) t;
            when p_stream.slot = N and p_stream.nonpersistent then
                select k.number into v_number
                from (select t.seq, row_number() over () as number
                      from howdah._nonpersistent_N(v_topic_id, v_part.after, v_part.after_seq, v_part.to_xid, v_done,
                          v_upto, v_moment, 10000) t) k
                where (select true from howdah.acked a
                    where a.ack_id = v_ack_id and a.seq = k.seq and a.lease_id is null limit 1) is null
                limit 1;
                select max(t.xid) as xid, array_agg(t.seq) as seqs into v_keys
                from howdah._nonpersistent_N(v_topic_id, v_part.after, v_part.after_seq, v_part.to_xid, v_done, v_upto,
                    v_moment, coalesce(v_number - 1, 10000)) t;
            -- end for
            else null;
        end case;
        if v_keys.xid is not null then
            v_xid := v_keys.xid;
            v_seqs := v_seqs || v_keys.seqs;
        end if;
        exit when v_number is not null or cardinality(v_keys.seqs) = 10000;
    end loop;
    if v_number is not null or cardinality(v_keys.seqs) = 10000 then
        if v_xid is not null then
            perform howdah._move_cursor(v_cursor, v_xid, v_seqs[cardinality(v_seqs)], cardinality(v_seqs),
                howdah._cursor_after(v_cursor, v_upto, v_xid));
        end if;
    elsif v_xid is not null or v_cursor.seq >= 0 then
        perform howdah._move_cursor(v_cursor, '3', -1, cardinality(v_seqs), v_upto);
    end if;
    delete from howdah.acked a where a.ack_id = v_ack_id and a.seq = any (v_seqs);
end
$$;
