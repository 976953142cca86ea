-- howdah._own_deletions(): at most how many messages the caller's transaction has taken out and not committed.
--
-- Returns  bigint; deletions of the last second's transactions may be included.
-- Role     internal
--
-- For a transaction that has written something: one that has not has taken out nothing.
create or replace function howdah._own_deletions() returns bigint
language sql volatile
as $$
    select case when current_setting('track_counts')::boolean
        then pg_stat_get_xact_tuples_deleted('howdah.msgs'::regclass)
            + pg_stat_get_xact_tuples_deleted('howdah.msgs_nonpersistent'::regclass)
            + pg_stat_get_xact_tuples_deleted('howdah.parked'::regclass)
            + pg_stat_get_xact_tuples_deleted('howdah.leased'::regclass)
        else 1000000000000 end
$$;
