-- howdah.list_open_transactions(min_age, max_rows): list what holds things up: open transactions, prepared ones, and
-- replication slots.
--
-- Returns  one row each, first those that keep the most dead rows from vacuum. kind: session, prepared, slot or standby
--          (one that sends feedback). name: the process, the gid or the slot. since: when it began or was prepared.
--          idle_for: how long it has been idle in transaction. horizon: it keeps rows that died within so many
--          transactions; NULL: none. locks: how many of Howdah's tables it has locked. blocks: how many sessions wait
--          for it. wal_bytes: what a slot keeps of the write-ahead log. advice: what to do. hidden: PostgreSQL does not
--          tell the owner of Howdah's functions its state and age, who is not in pg_read_all_stats.
-- Raises   HD005 max_rows is not 1 to 1000, or min_age not 0 to 10000 days.
-- Role     howdah_admin howdah_consumer howdah_browser howdah_auditor
--
-- A session is listed if its transaction is at least min_age old, or if others wait for it. A hidden one is listed
-- if it keeps rows from vacuum. Sessions and prepared transactions are those of this database. Messages that a
-- transaction received cannot be seen from outside; only its locks can. The statement is not shown, because it may hold
-- bodies.
create or replace function howdah.list_open_transactions(
    min_age interval default interval '10 seconds', max_rows integer default 100
) returns table (
    kind text, name text, owner text, application text, client text, state text, since timestamptz, age interval,
    idle_for interval, horizon bigint, locks bigint, blocks bigint, wal_bytes bigint, hidden boolean, advice text
)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_now timestamptz := howdah.now();
    v_reads_all boolean := pg_has_role(current_user, 'pg_read_all_stats', 'usage');
begin
    if max_rows is null or max_rows not between 1 and 1000 then
        raise exception using errcode = 'HD005',
            message = format('max_rows must be 1 to 1000, not %s', coalesce(max_rows::text, 'NULL'));
    elsif extract(epoch from min_age) not between 0 and 864000000 then
        raise exception using errcode = 'HD005', message = format('min_age must be 0 to 10000 days, not %s', min_age);
    end if;
    return query
    with locked as materialized (
        select l.pid, l.virtualtransaction, l.granted, l.database, l.relation, l.locktype,
            case when l.locktype = 'transactionid' and l.mode = 'ExclusiveLock' then l.transactionid end as owned
        from pg_locks l
    ), waits as materialized (
        select b.pid, count(*) as blocks
        from (select distinct l.pid from locked l where not l.granted and l.pid is not null) w
        cross join lateral (select distinct p.p from unnest(pg_blocking_pids(w.pid)) p(p)) b(pid)
        group by b.pid
    ), held as materialized (
        select l.pid, l.virtualtransaction, count(distinct l.relation) as locks
        from locked l join pg_class c on c.oid = l.relation
        where l.granted and l.locktype = 'relation' and c.relkind in ('r', 'p')
          and c.relnamespace = 'howdah'::regnamespace
          and l.database = (select d.oid from pg_database d where d.datname = current_database())
        group by l.pid, l.virtualtransaction
    ), session as materialized (
        select a.*, not (v_reads_all or pg_has_role(a.usesysid, 'usage')) as is_hidden,
            greatest(age(a.backend_xmin), age(a.backend_xid)) as held_back
        from pg_stat_activity a
        where a.pid <> pg_backend_pid() and a.usesysid is not null
          and (a.datname = current_database() or a.datid is null and a.backend_xmin is not null)
    ), found as (
        select case when s.datid is null then 'standby' else 'session' end as kind, s.pid::text as name,
            s.usename::text as owner, nullif(s.application_name, '') as application, s.client_addr::text as client,
            s.state, s.xact_start as since,
            case when s.state like 'idle in transaction%' then v_now - s.state_change end as idle_for,
            s.held_back::bigint as horizon, coalesce(h.locks, 0) as locks, coalesce(w.blocks, 0) as blocks,
            null::bigint as wal_bytes, s.is_hidden as hidden,
            case when s.is_hidden then 'See it as a superuser, or: grant pg_read_all_stats to '
                    || quote_ident(current_user)
                when s.state like 'idle in transaction%' or v_now - s.xact_start >= min_age
                    then format('Have it commit, or end it: select pg_terminate_backend(%s)', s.pid) end as advice
        from session s
        left join held h on h.pid = s.pid
        left join waits w on w.pid = s.pid
        where v_now - s.xact_start >= min_age or w.blocks > 0 or s.datid is null
           or s.is_hidden and s.held_back is not null
        union all
        select 'prepared', x.gid, x.owner::text, null, null, 'prepared', x.prepared, null,
            age(x.transaction)::bigint, coalesce(h.locks, 0), 0, null, false,
            format('End it as its owner: commit prepared %1$L, or rollback prepared %1$L', x.gid)
        from pg_prepared_xacts x
        left join locked t on t.owned = x.transaction  -- it keeps its virtual transaction until a restart
        left join held h on h.pid is null and h.virtualtransaction = t.virtualtransaction
        where x.database = current_database()
        union all
        select 'slot', r.slot_name::text, null, r.plugin::text, null,
            case when r.active then 'active' else 'inactive' end, null, null, age(r.xmin)::bigint, 0, 0,
            case when not pg_is_in_recovery()
                then pg_wal_lsn_diff(pg_current_wal_lsn(), r.restart_lsn)::bigint end,
            false, case when not r.active then format('If nobody needs it: select pg_drop_replication_slot(%L)',
                r.slot_name) end
        from pg_replication_slots r
        where r.xmin is not null or not r.active or r.restart_lsn is not null
    )
    select f.kind, f.name, f.owner, f.application, f.client, f.state, f.since, v_now - f.since, f.idle_for, f.horizon,
        f.locks, f.blocks, f.wal_bytes, f.hidden, f.advice
    from found f
    order by f.horizon desc nulls last, f.since nulls last, f.kind, f.name
    limit max_rows;
end
$$;
