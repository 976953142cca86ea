-- howdah._open_transactions(): the open transactions of this database that may still send or receive.
--
-- Returns  one row per transaction: its virtual transaction, and its process (pid). pid is NULL for a prepared one.
-- Role     internal
--
-- Such a transaction has begun to write, or its snapshot is older than the engine's state. It then still sees queues
-- that take messages. All others see the engine's state from their next statement on.
create or replace function howdah._open_transactions() returns table (transaction text, pid integer)
language sql volatile
as $$
    select v.virtualtransaction, v.pid
    from pg_locks v join pg_stat_activity a on a.pid = v.pid cross join howdah.engine e
    where v.locktype = 'virtualxid' and v.virtualxid = v.virtualtransaction and v.granted and v.pid <> pg_backend_pid()
      -- autovacuum has no user
      and a.datname = current_database() and a.usesysid is not null
      and (a.backend_xid is not null or age(a.backend_xmin) >= age(e.state_xid::text::xid8::xid))
    union all
    -- A prepared transaction keeps its virtual transaction until the server is restarted.
    select t.virtualtransaction, null
    from pg_prepared_xacts x
    join pg_locks t on t.locktype = 'transactionid' and t.transactionid = x.transaction and t.mode = 'ExclusiveLock'
    where x.database = current_database() and exists (
        select from pg_locks r join pg_class c on c.oid = r.relation
        where r.virtualtransaction = t.virtualtransaction and r.pid is null
          and r.database = (select d.oid from pg_database d where d.datname = x.database)
          and c.relnamespace = 'howdah'::regnamespace)
$$;
