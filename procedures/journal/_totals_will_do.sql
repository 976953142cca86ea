-- howdah._totals_will_do(): whether the stored totals are recent, and the journal beyond them is long. Callers then do
-- not read it.
--
-- Returns  boolean: stored within the last two minutes, and over 20,000 transactions since.
-- Role     internal
create or replace function howdah._totals_will_do() returns boolean
language sql stable
as $$
    select coalesce((
        select e.totals_at > howdah.now() - interval '2 minutes'
            and pg_snapshot_xmax(pg_current_snapshot())::text::bigint
                - pg_snapshot_xmax(e.totals_snapshot)::text::bigint > 20000
        from howdah.engine e), false)
$$;
