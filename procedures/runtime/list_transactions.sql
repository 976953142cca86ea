-- howdah.list_transactions(): list the prepared transactions of this database that belong to Howdah.
--
-- Returns  one row per transaction, with gid, its id (transaction), prepared_at, owner, age and the statements that end
--          it. ours: whether gid begins with "howdah:"; the others hold locks on Howdah's tables. before_start: whether
--          it was prepared before the server's present start. rolls_back: whether maintenance will end it
--          (engine.autorollback), which it does to no branch of a transaction over several databases.
-- Role     howdah_admin howdah_consumer howdah_auditor
--
-- PostgreSQL allows COMMIT PREPARED and ROLLBACK PREPARED in no function. Run commit_with or rollback_with as a
-- statement of its own (\gexec in psql), as its owner or a superuser. In Python, call
-- connection.transactions.commit(gid). A crash rolls back what is not prepared.
create or replace function howdah.list_transactions() returns table (
    gid text, transaction bigint, prepared_at timestamptz, owner text, age interval, ours boolean, before_start boolean,
    rolls_back boolean, commit_with text, rollback_with text
)
language sql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
    select x.gid, x.transaction::text::bigint, x.prepared, x.owner::text, howdah.now() - x.prepared,
        x.gid like 'howdah:%', x.prepared < pg_postmaster_start_time(), e.autorollback and x.gid like 'howdah:%'
        and not x.gid ^@ 'howdah:xa:' and x.prepared < pg_postmaster_start_time(), format('commit prepared %L', x.gid),
        format('rollback prepared %L', x.gid)
    from pg_prepared_xacts x cross join howdah.engine e
    where x.database = current_database() and (x.gid like 'howdah:%' or exists (
        -- Until a restart it keeps its virtual transaction.
        select from pg_locks t
        join pg_locks l on l.virtualtransaction = t.virtualtransaction
        join pg_class c on c.oid = l.relation
        where t.locktype = 'transactionid' and t.transactionid = x.transaction and t.mode = 'ExclusiveLock'
          and l.pid is null
          and l.database = (select d.oid from pg_database d
            where d.datname = x.database)
          and c.relnamespace = 'howdah'::regnamespace))
    order by x.prepared
$$;
