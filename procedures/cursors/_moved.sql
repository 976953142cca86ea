-- howdah._moved(p_cursor, p_upto, p_xid): a cursor moved on to a message, as above; until the transaction it is in has been read it stays.
--
-- Returns  pg_snapshot.
-- Role     internal
create or replace function howdah._moved(p_cursor howdah.ack_cursors, p_upto pg_snapshot, p_xid xid8) returns pg_snapshot
language sql immutable
as $$
    select case when (p_cursor).seq >= 0 and (p_cursor).xid = p_xid then (p_cursor).snapshot else howdah._cursor_at(howdah._whole_snapshot(p_cursor), p_upto, p_xid) end
$$;
