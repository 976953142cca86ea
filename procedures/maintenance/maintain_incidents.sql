-- howdah.maintain_incidents(lock_epoch): delete old incidents of messages that are gone, and other old records.
--
-- Returns  the number of incidents and acts deleted (bigint), at most 10,000 of each; the next pass goes on.
-- Raises   HD014 the maintenance lock is not held with this epoch.
-- Role     howdah_consumer howdah_admin
--
-- The other records are operators' acts, changes by administrators, audits, entries of poison_log, and changes of lock
-- holders. Figures of workers and remains of leases and moves go, too. Old means over engine.incident_retention_days.
-- For acts, changes, audits and locks it means over journal_retention_days. The last audit and the last
-- change of each lock stay.
--
-- While a message is ready, parked, dead or in somebody's hands, all its incidents stay: they are its count and its
-- evidence. One statement decides, so that a message being moved is seen in one of its two places. A topic message is
-- ready until its subscription has read it. That is looked at before, because a message never goes back into a topic.
--
-- With the engine's option archive, incidents that are not archived stay, and howdah.check_server() says so. lock_epoch
-- NULL: run by hand.
create or replace function howdah.maintain_incidents(lock_epoch bigint default null) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp set jit = off
as $$
declare
    v_before timestamptz := howdah.now() - (select e.incident_retention_days
        from howdah.engine e) * interval '24 hours';
    v_acts_before timestamptz := howdah.now() - (select e.journal_retention_days
        from howdah.engine e) * interval '24 hours';
    v_archive boolean := (select e.archive from howdah.engine e);
    v_archived pg_snapshot := howdah._archived_until();
    v_count bigint;
    v_acts bigint;
    v_unread bigint[];
    v_unread_by integer[];
begin
    if lock_epoch is not null then
        perform howdah._fence('maintenance', lock_epoch);
    end if;
    perform howdah._fold_metrics();  -- what is deleted stays counted
    delete from howdah.operator_acts a where a.act_id in (
        select o.act_id from howdah.operator_acts o where o.at < v_acts_before order by o.act_id limit 10000);
    get diagnostics v_acts = row_count;
    with gone as (
        delete from howdah.config_changes c where c.change_id in (
            select o.change_id from howdah.config_changes o where o.at < v_acts_before order by o.change_id limit 10000)
        returning c.transaction
    )
    select case when g.last > coalesce(pg_sequence_last_value('howdah.changes_dropped'::regclass), 0)
        then setval('howdah.changes_dropped', g.last) end
    into v_count
    from (select max(n.transaction) as last from gone n) g;
    delete from howdah.lock_epochs e where e.id in (
        select o.id from howdah.lock_epochs o
        where o.acquired_at < v_acts_before and o.id < (select max(l.id) from howdah.lock_epochs l
            where l.name = o.name)
        order by o.id limit 10000);
    delete from howdah.ahead_leases a
    where not exists (select from howdah._in_leases(a.destination_id, array[a.lease_id]));
    delete from howdah.poison_log l where l.log_id in (
        select o.log_id from howdah.poison_log o where o.logged_at < v_before order by o.log_id limit 10000);
    delete from howdah.worker_figures f where f.figure_id in (
        select o.figure_id from howdah.worker_figures o where o.until_at < v_before order by o.until_at limit 10000);
    delete from howdah.audit_runs r where r.started_at < v_acts_before and r.run_id < (
        select max(o.run_id) from howdah.audit_runs o where o.taken_at is not null);
    perform howdah._forget_moved();
    if not exists (select from howdah.poison_details p where p.recorded_at < v_before) then
        perform howdah._report_blocked_maintenance('incidents', 'poison_details', null);
        return v_acts;  -- the tables of messages need not be read
    end if;
    perform howdah._report_blocked_maintenance('incidents', 'poison_details',
        case when v_archive and (v_archived is null or exists (
        select from howdah.poison_details p
        where p.recorded_at < v_before and p.xid >= pg_snapshot_xmin(v_archived)::text::bigint
          and not pg_visible_in_snapshot(p.xid::text::xid8, v_archived))) then howdah._why_unarchived() end);
    select array_agg(u.destination_id), array_agg(u.message_id) into v_unread_by, v_unread
    from howdah._unread_incidents(v_before) u;
    delete from howdah.poison_details i where i.incident_id in (
        select p.incident_id from howdah.poison_details p
        where p.recorded_at < v_before
          and (not v_archive or v_archived is not null and pg_visible_in_snapshot(p.xid::text::xid8, v_archived))
          and not exists (select from howdah.msgs m where m.message_id = p.message_id)
          and not exists (select from howdah.leased l where l.message_id = p.message_id)
          and not exists (select from howdah.parked w where w.message_id = p.message_id)
          and not exists (select from howdah.msgs_nonpersistent n
                          where n.message_id = p.message_id and n.boot = pg_postmaster_start_time())
          and (p.destination_id, p.message_id) not in (
            select u.destination_id, u.message_id from unnest(v_unread_by, v_unread) u(destination_id, message_id))
        limit 10000);
    get diagnostics v_count = row_count;
    return v_count + v_acts;
end
$$;
