-- howdah._metric_epoch(): the state of the totals for monitoring. They begin anew in another database.
--
-- Returns  howdah.metric_epoch.
-- Role     internal
--
-- A restored database has another cluster or another oid. The counts that it brought with it are not counted again.
create or replace function howdah._metric_epoch() returns howdah.metric_epoch
language plpgsql volatile
as $$
declare
    v_home text := (select c.system_identifier || '/' || d.oid from pg_control_system() c, pg_database d
        where d.datname = current_database());
    v_epoch howdah.metric_epoch;
begin
    select e.* into v_epoch from howdah.metric_epoch e where e.home = v_home;
    if found or current_setting('transaction_read_only') = 'on' then
        return v_epoch;
    end if;
    update howdah.metric_epoch e set home = v_home
    where split_part(e.home, '/', 1) = split_part(v_home, '/', 1)
      and not exists (select from howdah.metric_totals t where t.total > 0)
    returning e.* into v_epoch;
    if found then
        return v_epoch;  -- made from a template of this cluster, in which nothing was counted
    end if;
    insert into howdah.metric_epoch as e (id, home, created_at, since)
    values (1, v_home, howdah.now(), 'epoch')
    on conflict (id) do update set home = excluded.home, created_at = excluded.created_at,
        since = excluded.created_at, snapshot = howdah._snapshot(), folded_at = null
    where e.home <> excluded.home
    returning e.* into v_epoch;
    if found then
        delete from howdah.metric_totals;
        delete from howdah.metric_histograms;
        delete from howdah.flow_samples;
    else
        select e.* into v_epoch from howdah.metric_epoch e;
    end if;
    return v_epoch;
end
$$;
