-- howdah._open_transactions(): the open transactions of this database that may still send or receive.
--
-- Returns  one row per transaction: its virtual transaction, and its process (pid). pid is NULL for a prepared one.
-- Role     internal
--
-- Such a transaction has begun to write, or its snapshot is older than the engine's state. It then still sees queues
-- that take messages. All others see the engine's state from their next statement on.
--
-- Howdah's owner sees the age of others' snapshots only as a member of pg_read_all_stats. Without that, a transaction
-- counts once it has used a table of Howdah.
create or replace function howdah._open_transactions() returns table (transaction text, pid integer)
language sql volatile
as $$
    with lock as materialized (
        select l.*, c.oid is not null as ours
        from pg_locks l
        left join pg_class c on c.oid = l.relation and c.relnamespace = 'howdah'::regnamespace
            and l.database = (select d.oid from pg_database d where d.datname = current_database())
        where l.granted
    )
    select v.virtualtransaction, v.pid
    from lock v join pg_stat_activity a on a.pid = v.pid cross join howdah.engine e
    where v.locktype = 'virtualxid' and v.virtualxid = v.virtualtransaction and v.pid <> pg_backend_pid()
      and a.datname = current_database() and a.usesysid is not null
      and a.backend_type is distinct from 'parallel worker' and a.backend_type is distinct from 'walsender'
      and (age(a.backend_xmin) >= age(e.state_xid::text::xid8::xid)
          or exists (select from lock x where x.pid = v.pid and (
              x.locktype = 'transactionid' and x.mode = 'ExclusiveLock'
              or x.ours and a.query = '<insufficient privilege>')))
    union all
    -- A prepared transaction keeps its virtual transaction until the server is restarted.
    select t.virtualtransaction, null
    from pg_prepared_xacts x
    join lock t on t.locktype = 'transactionid' and t.transactionid = x.transaction and t.mode = 'ExclusiveLock'
    where x.database = current_database() and exists (
        select from lock r where r.virtualtransaction = t.virtualtransaction and r.pid is null and r.ours)
$$;
