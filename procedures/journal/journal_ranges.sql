-- howdah.journal_ranges(since, upto, partitions): split the journal between two offsets into ranges with about the same
-- number of calls, to be read in parallel.
--
-- Returns  first_xid and end_xid (exclusive) of each range; no row if nothing lies between the two offsets.
-- Raises   HD005 wrong argument.
-- Role     howdah_auditor howdah_admin
create or replace function howdah.journal_ranges(since jsonb, upto jsonb, partitions integer default 4)
returns table (first_xid bigint, end_xid bigint)
language plpgsql volatile security definer set search_path = pg_catalog, howdah,
    pg_temp set enable_seqscan = off set jit = off
as $$
declare
    v_since pg_snapshot := howdah._offset_snapshot(since);
    v_upto pg_snapshot := howdah._offset_snapshot(upto);
begin
    if partitions is null or partitions < 1 or partitions > 10000 then
        raise exception using errcode = 'HD005', message = 'partitions must be 1 to 10,000',
            hint = 'This many connections read at once.';
    end if;
    return query
    with cuts as (
        select percentile_disc(array(select n::double precision / partitions
            from generate_series(1, partitions - 1) n)) within group (order by j.xid) as inner_ones,
            min(j.xid) as lowest, max(j.xid) + 1 as past
        from howdah.journal j
        where j.xid >= pg_snapshot_xmin(v_since)::text::bigint and j.xid < pg_snapshot_xmax(v_upto)::text::bigint
          and pg_visible_in_snapshot(j.xid::text::xid8, v_upto)
          and not pg_visible_in_snapshot(j.xid::text::xid8, v_since)
    ), bounds as (
        select distinct b.xid from cuts c cross join lateral unnest(c.inner_ones || c.lowest || c.past) b(xid)
        where b.xid is not null
    ), pairs as (
        select b.xid, lead(b.xid) over (order by b.xid) as following from bounds b
    )
    select p.xid, p.following from pairs p where p.following is not null order by p.xid;
end
$$;
