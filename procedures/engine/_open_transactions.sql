-- howdah._open_transactions(): the open transactions of this database that may still send or receive.
--
-- Returns  one row per transaction: its virtual transaction, and its process (pid). pid is NULL for a prepared one.
--          hidden: the owner of Howdah may not see what the session does.
-- Role     internal
--
-- Such a transaction has begun to write, or its snapshot is older than the engine's state. It then still sees queues
-- that take messages. All others see the engine's state from their next statement on.
create or replace function howdah._open_transactions() returns table (transaction text, pid integer, hidden boolean)
language sql volatile
as $$
    select v.virtualtransaction, v.pid, a.query = '<insufficient privilege>'
    from pg_locks v
    join pg_stat_activity a on a.pid = v.pid
    cross join howdah.engine e
    where v.locktype = 'virtualxid' and v.virtualxid = v.virtualtransaction and v.pid <> pg_backend_pid()
      and a.datname = current_database() and a.usesysid is not null
      and a.backend_type is distinct from 'parallel worker' and a.backend_type is distinct from 'walsender'
      and (a.query = '<insufficient privilege>' or a.backend_xid is not null
          or age(a.backend_xmin) >= age(e.state_xid::text::xid8::xid))
    union all
    select '-1/' || x.transaction::text, null, false
    from pg_prepared_xacts x
    where x.database = current_database() and exists (
        select from pg_locks l join pg_class c on c.oid = l.relation
        where l.virtualtransaction = '-1/' || x.transaction::text and l.pid is null
          and l.database = (select d.oid from pg_database d where d.datname = x.database)
          and c.relnamespace = 'howdah'::regnamespace)
$$;
