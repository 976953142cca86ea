-- howdah._cut(p_cursor, p_upto, p_xid): a cursor's snapshot moved on to a message: everything before it in reading order is passed.
--
-- Returns  pg_snapshot: what is visible in it is passed; of p_xid itself only the messages up to p_seq are, which the cursor says.
-- Role     internal
--
-- p_upto is the snapshot that was read up to. Reading order: first the rest of the transaction that the cursor has passed in part, for
-- it can note one such only; then what was under way at the cursor and has committed since, by transaction number; then the
-- transactions begun later. So what is left over is a snapshot again.
create or replace function howdah._cut(p_cursor howdah.ack_cursors, p_upto pg_snapshot, p_xid xid8) returns pg_snapshot
language sql immutable
as $$
    select case when p_cursor.seq >= 0 and p_xid = p_cursor.xid then p_cursor.snapshot else (
        select (coalesce(min(x.xid), c.bound)::text || ':' || c.bound::text || ':'
            || coalesce(string_agg(x.xid::text, ',' order by x.xid), ''))::pg_snapshot
        from (select greatest(p_xid, d.xmax) as bound, d.xmax
              -- A transaction passed in part that was the first one not begun is passed now.
              from (select case when p_cursor.seq >= 0 and p_cursor.xid = pg_snapshot_xmax(p_cursor.snapshot)
                                then (p_cursor.xid::text::bigint + 1)::text::xid8 else pg_snapshot_xmax(p_cursor.snapshot) end as xmax) d) c
        left join lateral (
            select s.xid from pg_snapshot_xip(p_upto) s(xid) where s.xid < c.bound and p_xid >= c.xmax
            union
            select s.xid from pg_snapshot_xip(p_cursor.snapshot) s(xid)
            where p_xid < c.xmax and (s.xid >= p_xid or not pg_visible_in_snapshot(s.xid, p_upto))
              and (p_cursor.seq < 0 or s.xid <> p_cursor.xid)
        ) x on true
        group by c.bound) end
$$;

-- howdah._snapshot(): what the caller may count as published now: what others have committed.
--
-- Returns  pg_current_snapshot(), but with the caller's own transaction among those under way.
-- Role     internal
--
-- To PostgreSQL one's own transaction is visible. A cursor that passed it would pass what it publishes afterwards.
create or replace function howdah._snapshot() returns pg_snapshot
language plpgsql volatile
as $$
declare
    v_snapshot pg_snapshot := pg_current_snapshot();
    v_own xid8 := pg_current_xact_id_if_assigned();
begin
    if (v_own < pg_snapshot_xmax(v_snapshot)) is not true then
        return v_snapshot;
    end if;
    return (select format('%s:%s:%s', min(x.xid), pg_snapshot_xmax(v_snapshot), string_agg(x.xid::text, ',' order by x.xid))::pg_snapshot
            from (select pg_snapshot_xip(v_snapshot) union select v_own) x(xid));
end
$$;

-- howdah._is_passed(p_cursor, p_xid, p_seq): whether a cursor has passed a message.
--
-- Returns  boolean.
-- Role     internal
create or replace function howdah._is_passed(p_cursor howdah.ack_cursors, p_xid xid8, p_seq bigint) returns boolean
language sql immutable
as $$ select pg_visible_in_snapshot(p_xid, p_cursor.snapshot) or p_xid = p_cursor.xid and p_seq <= p_cursor.seq $$;
