-- howdah._without_own(): the statement's snapshot with the caller's transaction still open.
--
-- Returns  pg_snapshot.
-- Role     internal
create or replace function howdah._without_own() returns pg_snapshot
language sql volatile
as $$
    select (min(x.xid::text::bigint) || ':' || pg_snapshot_xmax(pg_current_snapshot())::text || ':'
        || string_agg(x.xid::text, ',' order by x.xid))::pg_snapshot
    from (select pg_snapshot_xip(pg_current_snapshot()) as xid union select pg_current_xact_id()) x
$$;
