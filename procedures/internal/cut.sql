-- howdah._cut(p_done, p_upto, p_xid): a cursor moved on to a message: everything before it in reading order is passed.
--
-- Returns  pg_snapshot: what is visible in it is passed; of p_xid itself only the messages up to p_seq are, which the cursor says.
-- Role     internal
--
-- p_done is the cursor so far, p_upto the snapshot that was read up to. Reading order: first what was under way at p_done and has
-- committed since, by transaction number; then the transactions begun later. So what is left over is a snapshot again.
-- No min(): xid8 has none before PostgreSQL 15.
create or replace function howdah._cut(p_done pg_snapshot, p_upto pg_snapshot, p_xid xid8) returns pg_snapshot
language sql immutable
as $$
    select (coalesce((array_agg(x.xid order by x.xid))[1], c.bound)::text || ':' || c.bound::text || ':'
        || coalesce(string_agg(x.xid::text, ',' order by x.xid), ''))::pg_snapshot
    from (select greatest(p_xid, pg_snapshot_xmax(p_done)) as bound) c
    left join lateral (
        select s.xid from pg_snapshot_xip(p_upto) s(xid) where s.xid < c.bound and p_xid >= pg_snapshot_xmax(p_done)
        union
        select s.xid from pg_snapshot_xip(p_done) s(xid)
        where p_xid < pg_snapshot_xmax(p_done) and (s.xid >= p_xid or not pg_visible_in_snapshot(s.xid, p_upto))
    ) x on true
    group by c.bound
$$;

-- howdah._is_passed(p_cursor, p_xid, p_seq): whether a cursor has passed a message.
--
-- Returns  boolean.
-- Role     internal
create or replace function howdah._is_passed(p_cursor howdah.ack_cursors, p_xid xid8, p_seq bigint) returns boolean
language sql immutable
as $$ select pg_visible_in_snapshot(p_xid, p_cursor.snapshot) or p_xid = p_cursor.xid and p_seq <= p_cursor.seq $$;
