-- howdah.list_schedules(queue, all_states, after_at, after_schedule, max_rows): list the schedules of a queue or topic,
-- or of all that the caller may send to or browse.
--
-- Returns  one row per schedule, by the time of the next firing; without all_states, only those that are active, paused
--          or failed.
-- Raises   HD001 no such queue; HD005 max_rows is not 1 to 10000; HD010 called from a maintenance command.
-- Role     howdah_producer howdah_admin howdah_browser howdah_auditor
--
-- next_at NULL in an active schedule: no scheduler has computed it yet. remaining: firings still to come (with cron,
-- those of each series); NULL: no end. missed: firings that were left out, or that another firing stood for.
--
-- max_rows NULL: all. For the next page, pass the last next_at and schedule_id as after_at and after_schedule.
create or replace function howdah.list_schedules(
    queue text default null, all_states boolean default false, after_at timestamptz default null,
    after_schedule bigint default null, max_rows integer default null
) returns table (
    schedule_id bigint, name text, queue_name text, state text, cron text, time_zone text, period interval,
    remaining integer, next_at timestamptz, starts_at timestamptz, ends_at timestamptz, catch_up boolean,
    misfire_grace interval, fired bigint, missed bigint, last_fired_at timestamptz, last_error text, parent_id bigint,
    message_type text, correlation_id text, created_at timestamptz, created_by text
)
language plpgsql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    if queue is not null and not exists (select from howdah.destinations d
        where d.name = queue and d.dropped_at is null) then
        raise exception using errcode = 'HD001', message = format('there is no queue %s',
            quote_literal(left(queue, 250))),
            hint = 'See howdah.list_queues().';
    end if;
    return query
    select s.id, s.name, d.name, s.state, s.cron, s.time_zone, s.period_ms * interval '1 millisecond', s.remaining,
        s.next_at, s.starts_at, s.ends_at, s.catch_up, s.misfire_grace_ms * interval '1 millisecond', s.fired, s.missed,
        s.last_fired_at, s.last_error, s.parent_id, s.message_type, s.correlation_id, s.created_at, s.created_by
    from (
        select c.* from howdah.schedules c
        where (all_states or c.state in ('active', 'paused', 'failed')) and (after_schedule is null
            or case when after_at is null then c.next_at is null and c.id > after_schedule
                else c.next_at is null or (c.next_at, c.id) > (after_at, after_schedule) end)
        order by c.next_at nulls last, c.id
        offset 0  -- rights are asked for in this order, until there are enough
    ) s
    join howdah.destinations d on d.id = s.destination_id
    where (queue is null or d.name = queue and d.dropped_at is null)
      and (howdah._has_right(d.id, 'send') or howdah._has_right(d.id, 'browse') or howdah._has_right(d.id, 'admin'))
    order by s.next_at nulls last, s.id limit howdah._most_rows(max_rows);
end
$$;
