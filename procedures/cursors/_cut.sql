-- howdah._without_own(): the statement's snapshot with the caller's transaction under way.
--
-- Returns  pg_snapshot.
-- Role     internal
create or replace function howdah._without_own() returns pg_snapshot
language sql volatile
as $$
    select (min(x.xid::text::bigint) || ':' || pg_snapshot_xmax(pg_current_snapshot())::text || ':' || string_agg(x.xid::text, ',' order by x.xid))::pg_snapshot
    from (select pg_snapshot_xip(pg_current_snapshot()) as xid union select pg_current_xact_id()) x
$$;

-- howdah._snapshot(): the statement's snapshot, in which the caller's own transaction is not visible.
--
-- Returns  pg_snapshot.
-- Role     internal
--
-- PostgreSQL leaves the own transaction out of pg_current_snapshot()'s list, for it can see what it did itself. A cursor with such
-- a snapshot would pass what the transaction has yet to publish.
create or replace function howdah._snapshot() returns pg_snapshot
language sql volatile
as $$
    select case when pg_visible_in_snapshot(pg_current_xact_id_if_assigned(), pg_current_snapshot()) then howdah._without_own() else pg_current_snapshot() end
$$;

-- howdah._whole(p_cursor): a cursor's snapshot, with the transaction that it has passed in part passed as a whole.
--
-- Returns  pg_snapshot.
-- Role     internal
create or replace function howdah._whole(p_cursor howdah.ack_cursors) returns pg_snapshot
language sql immutable
as $$
    select case when (p_cursor).seq < 0 then (p_cursor).snapshot else (
        select (coalesce(min(s.xid::text::bigint), b.bound) || ':' || b.bound || ':' || coalesce(string_agg(s.xid::text, ',' order by s.xid), ''))::pg_snapshot
        from (select greatest(pg_snapshot_xmax((p_cursor).snapshot)::text::bigint, (p_cursor).xid::text::bigint + 1) as bound) b
        left join pg_snapshot_xip((p_cursor).snapshot) s(xid) on s.xid <> (p_cursor).xid
        group by b.bound) end
$$;

-- howdah._cut(p_done, p_upto, p_xid): a cursor moved on to a message: everything before it in reading order is passed.
--
-- Returns  pg_snapshot: what is visible in it is passed; of p_xid itself only the messages up to p_seq are, which the cursor says.
-- Role     internal
--
-- p_done is the cursor so far, with nothing passed in part, p_upto the snapshot that was read up to. Reading order: first what was under way at
-- p_done and has committed since, by transaction number; then the transactions begun later. So what is left over is a snapshot again.
create or replace function howdah._cut(p_done pg_snapshot, p_upto pg_snapshot, p_xid xid8) returns pg_snapshot
language plpgsql immutable
as $$
declare
    v_bound xid8 := greatest(p_xid, pg_snapshot_xmax(p_done));
begin
    if p_xid = v_bound and p_xid <= pg_snapshot_xmin(p_upto) then
        return (p_xid::text || ':' || p_xid::text || ':')::pg_snapshot;
    end if;
    return (
        select (coalesce(min(x.xid::text::bigint), v_bound::text::bigint) || ':' || v_bound::text || ':'
            || coalesce(string_agg(x.xid::text, ',' order by x.xid), ''))::pg_snapshot
        from (
            select s.xid from pg_snapshot_xip(p_upto) s(xid) where s.xid < v_bound and p_xid >= pg_snapshot_xmax(p_done)
            union
            select s.xid from pg_snapshot_xip(p_done) s(xid)
            where p_xid < pg_snapshot_xmax(p_done) and (s.xid >= p_xid or not pg_visible_in_snapshot(s.xid, p_upto))
        ) x);
end
$$;

-- howdah._moved(p_cursor, p_upto, p_xid): a cursor moved on to a message, as above; until the transaction it is in has been read it stays.
--
-- Returns  pg_snapshot.
-- Role     internal
create or replace function howdah._moved(p_cursor howdah.ack_cursors, p_upto pg_snapshot, p_xid xid8) returns pg_snapshot
language sql immutable
as $$
    select case when (p_cursor).seq >= 0 and (p_cursor).xid = p_xid then (p_cursor).snapshot else howdah._cut(howdah._whole(p_cursor), p_upto, p_xid) end
$$;

-- howdah._is_passed(p_cursor, p_xid, p_seq): whether a cursor has passed a message.
--
-- Returns  boolean.
-- Role     internal
create or replace function howdah._is_passed(p_cursor howdah.ack_cursors, p_xid xid8, p_seq bigint) returns boolean
language sql immutable
as $$ select pg_visible_in_snapshot(p_xid, p_cursor.snapshot) or p_xid = p_cursor.xid and p_seq <= p_cursor.seq $$;
