-- howdah.maintain_totals(lock_epoch): add what the journal gained to journal_totals, and all records to the totals for
-- monitoring. Once a minute it keeps these for howdah.flow_history.
--
-- Returns  the number of totals that changed (bigint).
-- Raises   HD014 the maintenance lock is not held with this epoch.
-- Role     howdah_consumer howdah_admin
--
-- lock_epoch NULL: run by hand.
create or replace function howdah.maintain_totals(lock_epoch bigint default null) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp set jit = off
as $$
declare
    v_since pg_snapshot;
    v_until pg_snapshot;
    v_count bigint;
begin
    if lock_epoch is not null then
        perform howdah._fence('maintenance', lock_epoch);
    end if;
    select e.totals_snapshot into v_since from howdah.engine e where e.id = 1 for no key update;
    v_until := howdah._snapshot();
    with gained as (
        insert into howdah.journal_totals as t (destination_id, event, messages)
        select g.destination_id, g.event, sum(g.messages) from howdah._journal_since(v_since, v_until, null) g
        group by g.destination_id, g.event
        on conflict on constraint pk_journal_totals do update set messages = t.messages + excluded.messages
        returning t.event
    ) select count(*) into v_count from gained;
    update howdah.engine e set totals_snapshot = v_until, totals_at = howdah.now() where e.id = 1;
    perform howdah._fold_metrics();
    perform howdah._sample_flow();
    return v_count;
end
$$;
