-- howdah._hides_nothing(): whether no message is hidden from the caller that may come back.
--
-- Returns  boolean.
-- Role     internal
--
-- A transaction that deleted messages does not see them. A transaction that wrote something else counts as one of those
-- while its session's statistics show deleted messages. Even an earlier transaction may have deleted them, because a
-- busy session reports its statistics once a second. An old snapshot (REPEATABLE READ) hides what was sent since.
create or replace function howdah._hides_nothing() returns boolean
language plpgsql volatile
as $$
begin
    return current_setting('transaction_isolation') like 'read %'
        and (pg_current_xact_id_if_assigned() is null
            or current_setting('track_counts')::boolean
               and pg_stat_get_xact_tuples_deleted('howdah.msgs'::regclass) = 0);
end
$$;
