-- howdah._is_passed(p_cursor, p_xid, p_seq): whether a cursor has passed a message.
--
-- Returns  boolean.
-- Role     internal
create or replace function howdah._is_passed(p_cursor howdah.ack_cursors, p_xid xid8, p_seq bigint) returns boolean
language sql immutable
as $$ select pg_visible_in_snapshot(p_xid, p_cursor.snapshot) or p_xid = p_cursor.xid and p_seq <= p_cursor.seq $$;
