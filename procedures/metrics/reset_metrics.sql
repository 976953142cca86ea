-- howdah.reset_metrics(): let the totals of howdah.metrics begin anew, after a backup was restored in place.
--
-- Returns  when they begin (timestamptz).
-- Raises   HD010 called from a maintenance command; HD045 the master of changes is away.
-- Role     howdah_admin
--
-- A restore into another database or cluster does this by itself.
create or replace function howdah.reset_metrics() returns timestamptz
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_old constant timestamptz := (select e.created_at from howdah.metric_epoch e);
    v_new timestamptz;
begin
    perform howdah._refuse_maintenance();
    update howdah.metric_epoch e set home = '';
    v_new := (howdah._metric_epoch()).created_at;
    perform howdah._record_change('metrics', 'totals', 'altered', jsonb_build_object('created_at', v_old),
        jsonb_build_object('created_at', v_new));
    return v_new;
end
$$;
