-- howdah._snapshot(): the statement's snapshot, in which the caller's own transaction is not visible.
--
-- Returns  pg_snapshot.
-- Role     internal
--
-- PostgreSQL leaves the caller's own transaction out of the list in pg_current_snapshot(), because it sees its own
-- changes. A cursor with such a snapshot would pass what the transaction has yet to publish.
create or replace function howdah._snapshot() returns pg_snapshot
language sql volatile
as $$
    select case when pg_visible_in_snapshot(pg_current_xact_id_if_assigned(), pg_current_snapshot())
        then howdah._without_own() else pg_current_snapshot() end
$$;
