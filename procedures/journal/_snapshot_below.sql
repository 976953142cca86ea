-- howdah._snapshot_below(p_since, p_present, p_xid): a snapshot of what p_since sees, and what p_present sees below a
-- transaction id.
--
-- Returns  pg_snapshot. p_xid is at most the xmax of p_present.
-- Role     internal
create or replace function howdah._snapshot_below(
    p_since pg_snapshot, p_present pg_snapshot, p_xid bigint
) returns pg_snapshot
language sql immutable
as $$
    select (coalesce(min(x.xid), b.bound) || ':' || b.bound || ':'
        || coalesce(string_agg(x.xid::text, ',' order by x.xid), ''))::pg_snapshot
    from (select greatest(p_xid, pg_snapshot_xmax(p_since)::text::bigint) as bound) b
    left join (
        select i.xip::text::bigint as xid from pg_snapshot_xip(p_present) i(xip) where i.xip::text::bigint < p_xid
        union all
        select i.xip::text::bigint from pg_snapshot_xip(p_since) i(xip) where i.xip::text::bigint >= p_xid
    ) x on true
    group by b.bound
$$;
