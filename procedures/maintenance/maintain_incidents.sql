-- howdah.maintain_incidents(lock_epoch): delete old incidents of messages that are gone, and old acts of operators and entries of poison_log.
--
-- Returns  the number of incidents and acts deleted (bigint), at most 10,000 of each: the next pass goes on.
-- Raises   HD014 the maintenance lock is not held with this epoch.
-- Role     howdah_consumer howdah_admin
--
-- Old: engine.incident_retention_days; of acts journal_retention_days. While a message is ready, parked, dead or in somebody's hands all
-- its incidents stay, for they are its count and its evidence. One statement: a message that is being moved meanwhile is seen in
-- one of its two places. lock_epoch NULL: run by hand.
create or replace function howdah.maintain_incidents(lock_epoch bigint default null) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp set jit = off
as $$
declare
    v_before timestamptz := howdah.now() - (select e.incident_retention_days from howdah.engine e) * interval '1 day';
    v_acts_before timestamptz := howdah.now() - (select e.journal_retention_days from howdah.engine e) * interval '1 day';
    v_count bigint;
    v_acts bigint;
begin
    if lock_epoch is not null then
        perform howdah._fence('maintenance', lock_epoch);
    end if;
    delete from howdah.operator_acts a where a.act_id in (
        select o.act_id from howdah.operator_acts o where o.at < v_acts_before order by o.act_id limit 10000);
    get diagnostics v_acts = row_count;
    delete from howdah.poison_log l where l.log_id in (
        select o.log_id from howdah.poison_log o where o.logged_at < v_before order by o.log_id limit 10000);
    if not exists (select from howdah.poison_details p where p.recorded_at < v_before) then
        return v_acts;  -- the tables of messages need not be read
    end if;
    delete from howdah.poison_details i where i.incident_id in (
        select p.incident_id from howdah.poison_details p
        where p.recorded_at < v_before
          and not exists (select from howdah.msgs m where m.message_id = p.message_id)
          and not exists (select from howdah.parked w where w.message_id = p.message_id)
          and not exists (select from howdah.msgs_nonpersistent n
                          where n.message_id = p.message_id and n.boot = pg_postmaster_start_time())
        limit 10000);
    get diagnostics v_count = row_count;
    return v_count + v_acts;
end
$$;
