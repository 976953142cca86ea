-- howdah.reset_metrics(): let the totals of howdah.metrics begin anew, after a backup was restored in place.
--
-- Returns  when they begin (timestamptz).
-- Raises   HD010 called from a maintenance command.
-- Role     howdah_admin
--
-- A restore into another database or cluster does this by itself.
create or replace function howdah.reset_metrics() returns timestamptz
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    perform howdah._refuse_maintenance();
    update howdah.metric_epoch e set home = '';
    return (howdah._metric_epoch()).created_at;
end
$$;
