-- howdah._cursor_after(p_cursor, p_upto, p_xid): a cursor moved to a message, as howdah._cursor_at; it stays within a
-- transaction that it has passed in part.
--
-- Returns  pg_snapshot.
-- Role     internal
create or replace function howdah._cursor_after(
    p_cursor howdah.ack_cursors, p_upto pg_snapshot, p_xid xid8
) returns pg_snapshot
language sql immutable
as $$
    select case when (p_cursor).seq >= 0 and (p_cursor).xid = p_xid then (p_cursor).snapshot
        else howdah._cursor_at(howdah._whole_snapshot(p_cursor), p_upto, p_xid) end
$$;
