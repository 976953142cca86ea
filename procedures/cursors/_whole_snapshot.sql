-- howdah._whole_snapshot(p_cursor): a cursor's snapshot in which the transaction that it has passed in part is passed
-- as a whole.
--
-- Returns  pg_snapshot.
-- Role     internal
--
-- As a rule, nothing is open below that transaction. Then no query is needed.
create or replace function howdah._whole_snapshot(p_cursor howdah.ack_cursors) returns pg_snapshot
language plpgsql immutable
as $$
declare
    v_xmax xid8 := pg_snapshot_xmax(p_cursor.snapshot);
    v_bound text;
begin
    if p_cursor.seq < 0 then
        return p_cursor.snapshot;
    end if;
    v_bound := greatest(v_xmax::text::bigint, p_cursor.xid::text::bigint + 1)::text;
    if v_xmax = pg_snapshot_xmin(p_cursor.snapshot) then
        return (v_bound || ':' || v_bound || ':')::pg_snapshot;
    end if;
    return (
        select (coalesce(min(s.xid::text::bigint)::text, v_bound) || ':' || v_bound || ':'
            || coalesce(string_agg(s.xid::text, ',' order by s.xid), ''))::pg_snapshot
        from pg_snapshot_xip(p_cursor.snapshot) s(xid) where s.xid <> p_cursor.xid);
end
$$;
