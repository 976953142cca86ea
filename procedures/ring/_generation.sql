-- howdah._generation(): how often the ring of topic tables was turned; modulo 3 it is the number of those written to now.
--
-- Returns  bigint.
-- Role     internal
--
-- A sequence, so that it holds at once for everybody, transactions with an old snapshot too.
create or replace function howdah._generation() returns bigint
language sql volatile
as $$ select coalesce(pg_sequence_last_value('howdah.topic_generation'::regclass), 0) $$;

-- howdah._truncations(): how often a topic table was emptied.
--
-- Returns  bigint; also of a transaction that has not committed.
-- Role     internal
--
-- Whoever moves a cursor asks before finding out which tables to read, and compares (howdah._same_ring) after having read them, whose locks
-- it holds by then: in between a table may have been emptied and what it needed carried on into another one.
create or replace function howdah._truncations() returns bigint
language sql volatile
as $$ select coalesce(pg_sequence_last_value('howdah.topic_truncations'::regclass), 0) $$;

-- howdah._same_ring(p_truncations): refuse to read topic tables one of which was emptied since the reading statement's snapshot.
--
-- Returns  true; p_truncations is the number of truncations that the statement sees.
-- Raises   40001 retry the transaction.
-- Role     internal
--
-- TRUNCATE is not MVCC: what was carried on into another table would be seen in neither. Called by a statement that has locked the
-- tables already, so none can be emptied afterwards. STABLE, so that the statement calls it once, whether it finds rows or not.
create or replace function howdah._same_ring(p_truncations bigint) returns boolean
language plpgsql stable
as $$
begin
    if p_truncations <> coalesce(pg_sequence_last_value('howdah.topic_truncations'::regclass), 0) then
        raise exception using errcode = '40001', message = 'topic messages were moved while they were being read',
            hint = 'Retry the transaction.';
    end if;
    return true;
end
$$;

-- howdah._has_old_snapshot(): whether the transaction keeps one snapshot, so that it may not see what others have committed since.
--
-- Returns  boolean.
-- Role     internal
create or replace function howdah._has_old_snapshot() returns boolean
language sql stable
as $$ select current_setting('transaction_isolation') in ('repeatable read', 'serializable') $$;

-- howdah._boot_ms(): when the server was started.
--
-- Returns  milliseconds since 1970 (bigint).
-- Role     internal
create or replace function howdah._boot_ms() returns bigint
language sql stable
as $$ select (date_part('epoch', pg_postmaster_start_time()) * 1000)::bigint $$;

-- howdah._check_cluster(): refuse to read or write by transaction numbers of another cluster, after a restore.
--
-- Raises   HD025 the database was restored into another cluster.
-- Role     internal
--
-- Looked at once after each start of the server: pg_control_system() reads a file.
create or replace function howdah._check_cluster() returns void
language plpgsql volatile
as $$
declare
    v_boot bigint := howdah._boot_ms();
begin
    if pg_sequence_last_value('howdah.topic_checked'::regclass) = v_boot then
        return;
    end if;
    if (select e.system_identifier <> c.system_identifier from howdah.engine e cross join pg_control_system() c) then
        raise exception using errcode = 'HD025', message = 'this database was restored into another cluster: the cursors of its topics do not fit',
            hint = 'An administrator calls howdah.rebase_topics() once, before anybody publishes or receives.';
    end if;
    perform setval('howdah.topic_checked'::regclass, v_boot);
end
$$;
