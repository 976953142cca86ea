-- howdah._note_done(p_ack_id, p_seqs, p_xids): record messages that a cursor has not passed as done.
--
-- Raises   40001 somebody else did so; only a transaction with an old snapshot can get this.
-- Role     internal
--
-- Others' work since an old snapshot may no longer be recorded, because the cursor has passed it. So with an old
-- snapshot the cursor makes a step in place, which fails if anybody else moved it.
create or replace function howdah._note_done(p_ack_id integer, p_seqs bigint[], p_xids xid8[]) returns void
language plpgsql volatile
as $$
declare
    v_cursor howdah.ack_cursors;
begin
    insert into howdah.acked (ack_id, seq, xid) select p_ack_id, u.seq, u.xid from unnest(p_seqs, p_xids) u(seq, xid)
    on conflict do nothing;
    if howdah._has_old_snapshot() then
        perform pg_advisory_xact_lock(howdah._lock_key('cursor', p_ack_id::text));
        v_cursor := howdah._own_cursor(p_ack_id);
        perform howdah._move_cursor(v_cursor, v_cursor.xid, v_cursor.seq, 0, v_cursor.snapshot);
    end if;
end
$$;
