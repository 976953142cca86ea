-- howdah._whole_snapshot(p_cursor): a cursor's snapshot in which the transaction that it has passed in part is passed
-- as a whole.
--
-- Returns  pg_snapshot.
-- Role     internal
create or replace function howdah._whole_snapshot(p_cursor howdah.ack_cursors) returns pg_snapshot
language sql immutable
as $$
    select case when (p_cursor).seq < 0 then (p_cursor).snapshot else (
        select (coalesce(min(s.xid::text::bigint), b.bound) || ':' || b.bound || ':'
            || coalesce(string_agg(s.xid::text, ',' order by s.xid), ''))::pg_snapshot
        from (select greatest(pg_snapshot_xmax((p_cursor).snapshot)::text::bigint,
            (p_cursor).xid::text::bigint + 1) as bound) b
        left join pg_snapshot_xip((p_cursor).snapshot) s(xid) on s.xid <> (p_cursor).xid
        group by b.bound) end
$$;
