-- howdah.list_poison(queue, origin, error_class, fingerprint, older_than, newer_than, max_rows, after, selector): list
-- the dead messages of an exception destination, each with its last failure.
--
-- Returns  up to max_rows rows, the longest dead first. failures: all that were ever recorded for the message. due_at:
--          it is parked until then. last_…: its last failure.
-- Raises   HD001 no such queue; HD005 max_rows is not 1 to 10000; HD010 not allowed; HD023 the selector is invalid;
--          HD037 on a standby.
-- Role     howdah_browser howdah_consumer howdah_admin howdah_auditor
--
-- queue is the exception destination (NULL: the engine's), and origin the queue in which they died. error_class and
-- fingerprint are those of the last failure. older_than, newer_than: dead before that time, or from it on. selector: a
-- JMS selector over their headers and properties (docs/selectors.md). For the next page, pass the last position as
-- after.
create or replace function howdah.list_poison(
    queue text default null, origin text default null, error_class text default null, fingerprint text default null,
    older_than timestamptz default null, newer_than timestamptz default null, max_rows integer default 100,
    after bigint default null, selector text default null
) returns table (
    message_id bigint, exception_queue text, origin_queue text, dead_at timestamptz, dead_reason text, failures bigint,
    last_incident_id bigint, last_error_class text, last_error_text text, last_sqlstate text, last_fingerprint text,
    priority integer, sent_at timestamptz, content_type text, headers jsonb, due_at timestamptz, "position" bigint
)
language plpgsql volatile security definer set search_path = pg_catalog, howdah,
    pg_temp set plan_cache_mode = force_custom_plan
    set enable_seqscan = off set jit = off
as $$
declare
    v_destination howdah.destinations := howdah._queue(howdah._exception_queue(queue), 'browse');
begin
    perform howdah._check_all_here();
    if max_rows is null or max_rows not between 1 and 10000 then
        raise exception using errcode = 'HD005',
            message = format('max_rows must be 1 to 10000, not %s', coalesce(max_rows::text, 'NULL'));
    end if;
    return query
    select d.message_id, v_destination.name, o.name, d.dead_at, d.dead_reason, d.failures, d.incident_id, d.error_class,
        d.error_text, d.sqlstate, d.fingerprint, 9 - d.rank, d.sent_at, d.content_type, d.headers, d.due_at, d.seq
    from howdah._dead_messages(v_destination.id, howdah._origin_id(origin), list_poison.error_class,
        list_poison.fingerprint, older_than, newer_than, howdah._selected_messages(v_destination.id, selector), after,
        max_rows) d
    left join howdah.destinations o on o.id = d.origin_id
    order by d.seq;
end
$$;
