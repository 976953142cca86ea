-- howdah.log_since(position, max_rows): read what was logged since a reader's last call.
--
-- Returns  one row. next_position: pass it to the next call. entries: a JSON array of objects with at, level, event,
--          destination, actor, text and details. more: there is more to read now.
-- Raises   HD005 position is no place in the log, or max_rows is not 1 to 10000; HD010 called from a maintenance
--          command; HD037 on a standby.
-- Role     howdah_consumer howdah_admin howdah_auditor howdah_browser
--
-- position NULL: begin now. Each event comes once, in the call after its transaction has committed, however long that
-- took and whatever others have committed before. Within a call they come in the order of their times.
--
-- Administrators and auditors see the whole log. Others see events of the engine as a whole, what they logged, and
-- events of what they may receive from or browse.
create or replace function howdah.log_since(
    "position" jsonb default null, max_rows integer default 1000, out next_position jsonb, out entries jsonb,
    out more boolean
)
returns record
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_whole constant boolean := howdah._sees_all();
    v_from record;
    v_last record;
begin
    perform howdah._check_primary();
    if max_rows is null or max_rows not between 1 and 10000 then
        raise exception using errcode = 'HD005',
            message = format('max_rows must be 1 to 10000, not %s', coalesce(max_rows::text, 'NULL'));
    end if;
    select p.* into v_from from howdah._log_position(log_since."position") p;
    v_from.until := coalesce(v_from.until, pg_current_snapshot());
    with page as materialized (
        select (l.logged).*, l.source from howdah._log_between(v_from.since, v_from.until) l
        where ((l.logged).at, l.source, (l.logged).event_id) > (v_from.at, v_from.source, v_from.number)
        order by (l.logged).at, l.source, (l.logged).event_id
        limit max_rows
    ), last as (
        select p.at, p.source, p.event_id from page p order by p.at desc, p.source desc, p.event_id desc limit 1
    )
    select (select count(*) from page) as rows, (select to_jsonb(l) from last l) as place,
        (select coalesce(jsonb_agg(jsonb_build_object('at', howdah._utc(p.at), 'level', p.level, 'event', p.event,
             'destination', p.destination, 'actor', p.actor, 'text', p.text, 'details', p.details)
             order by p.at, p.source, p.event_id), '[]')
         from page p where v_whole or howdah._log_shown(p.event, p.destination, p.actor)) as entries
    into v_last;
    more := v_last.rows = max_rows;
    entries := v_last.entries;
    next_position := case
        when more then jsonb_build_object('since', v_from.since, 'until', v_from.until) || v_last.place
        else jsonb_build_object('since', v_from.until) end;
end
$$;
