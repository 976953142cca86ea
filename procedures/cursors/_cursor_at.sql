-- howdah._cursor_at(p_done, p_upto, p_xid): a cursor moved to a message: everything before it in reading order is
-- passed.
--
-- Returns  pg_snapshot: what is visible in it is passed. Messages of p_xid itself are passed only up to the cursor's
--          seq.
-- Role     internal
--
-- p_done is the cursor so far, with nothing passed in part; p_upto is the snapshot that was read up to. Reading order
-- is: first the transactions open at p_done that have committed since, by id; then the transactions begun later. So
-- what is left is a snapshot again.
create or replace function howdah._cursor_at(p_done pg_snapshot, p_upto pg_snapshot, p_xid xid8) returns pg_snapshot
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
