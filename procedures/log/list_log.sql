-- howdah.list_log(level, queue, event, since, until, max_rows): list what was logged, newest first.
--
-- Returns  the events of this level and what is more severe.
-- Raises   HD005 level is not ERROR, WARNING or INFO, or max_rows is not 1 to 10000; HD010 called from a maintenance
--          command.
-- Role     howdah_admin howdah_auditor howdah_browser howdah_consumer
--
-- queue: only events of this queue, topic or subscription, also a dropped one. event: only these, such as
-- QUEUE_DISABLED; CONFIG_CHANGED is a change of the configuration, and LOG a line of an application. since and until
-- bound the times. Callers see the same as in howdah.log_since.
create or replace function howdah.list_log(
    level text default 'INFO', queue text default null, event text default null, since timestamptz default null,
    until timestamptz default null, max_rows integer default 100
) returns table (
    logged_at timestamptz, logged_level text, logged_event text, destination text, actor text, text text,
    details jsonb
)
language plpgsql stable security definer set search_path = pg_catalog, howdah,
    pg_temp set plan_cache_mode = force_custom_plan
as $$
declare
    v_whole constant boolean := howdah._sees_all();
    v_severity constant integer := howdah._log_severity(upper(list_log.level));
begin
    if v_severity is null then
        raise exception using errcode = 'HD005', message = format('level must be ERROR, WARNING or INFO, not %s',
            coalesce(quote_literal(list_log.level), 'NULL'));
    end if;
    if max_rows is null or max_rows not between 1 and 10000 then
        raise exception using errcode = 'HD005',
            message = format('max_rows must be 1 to 10000, not %s', coalesce(max_rows::text, 'NULL'));
    end if;
    return query
    with events as (
        select e.* from howdah.log_events e
        where howdah._log_severity(e.level) <= v_severity
          and (list_log.queue is null or e.destination = list_log.queue)
          and (list_log.event is null or e.event = upper(list_log.event))
          and (list_log.since is null or e.at >= list_log.since)
          and (list_log.until is null or e.at < list_log.until)
          and (v_whole or howdah._log_shown(e.event, e.destination, e.actor))
        order by e.at desc, e.event_id desc limit max_rows
    ), changes as (
        select (c.changed).* from (
            select howdah._log_change(g) as changed from howdah.config_changes g
            where v_severity = 3 and upper(coalesce(list_log.event, 'CONFIG_CHANGED')) = 'CONFIG_CHANGED'
              and (list_log.since is null or g.at >= list_log.since)
              and (list_log.until is null or g.at < list_log.until)
            order by g.change_id desc offset 0
        ) c
        where (list_log.queue is null or (c.changed).destination = list_log.queue)
          and (v_whole or howdah._log_shown((c.changed).event, (c.changed).destination, (c.changed).actor))
        limit max_rows
    )
    select l.at, l.level, l.event, l.destination, l.actor, l.text, l.details
    from (select 0 as source, e.* from events e union all select 1, c.* from changes c) l
    order by l.at desc, l.source desc, l.event_id desc
    limit max_rows;
end
$$;
