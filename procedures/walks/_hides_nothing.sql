-- howdah._hides_nothing(): whether no message is hidden from the caller that may come back.
--
-- Returns  boolean.
-- Role     internal
--
-- A transaction that deleted messages does not see them. One that wrote something else passes as such while its
-- session's statistics know of deleted messages, even of earlier transactions: a busy session passes its statistics on
-- once a second. An old snapshot (REPEATABLE READ) hides what was sent since.
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
