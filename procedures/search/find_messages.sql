-- howdah.find_messages(queue, filter, after, max_rows): find messages of a queue without disturbing anyone.
--
-- Returns  up to max_rows messages in the order of their keys. Then there is always one row without message_id. It
--          has the number of rows looked at, whether that was all (complete), and the cursor for the next call.
--          body has the first 500 characters, redacted; body_type is text, json or bytes (as hexadecimal digits);
--          attempts counts the failures.
-- Raises   HD001 no such queue; HD005 wrong argument; HD010 not allowed; HD023 the selector is invalid; HD037 on a
--          standby.
-- Role     howdah_browser howdah_consumer howdah_admin howdah_auditor
--
-- Keys of the filter: selector, header ({"name": "value"}), body (a text that it contains), state, min_priority, group,
-- sent_after, sent_before, trace. A trace has 32 digits of the header traceparent. For failed messages there
-- are also cause, error_class and origin. States: ready, delayed, leased, parked, dead, expired.
--
-- One call looks at 20,000 rows or 32 MB of bodies at most, by keys; it locks nothing. For a subscription it sees only
-- what was set aside. Filters read redacted bodies, so that nobody can guess what a rule hides.
create or replace function howdah.find_messages(
    queue text, filter jsonb default '{}', after jsonb default null, max_rows integer default 50
) returns table (
    message_id bigint, state text, priority smallint, sent_at timestamptz, message_group text, attempts integer,
    headers jsonb, body text, body_type text, cursor jsonb, looked bigint, complete boolean
)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_destination howdah.destinations := howdah._queue(queue, 'browse');
begin
    perform howdah._check_all_here();
    perform howdah._check_filter(filter, after);
    if max_rows is null or max_rows not between 1 and 1000 then
        raise exception using errcode = 'HD005',
            message = format('max_rows must be 1 to 1000, not %s', coalesce(max_rows::text, 'NULL'));
    end if;
    return query
    select f.message_id, f.state, 9::smallint - f.rank, f.sent_at, f.message_group,
        case when f.message_id is not null then howdah._failures(v_destination.id, f.message_id, f.stage,
            f.conversation_id, f.message_group) end,
        f.headers, f.body,
        howdah._body_type(f.is_text, f.content_type),
        f.cursor, f.looked, f.complete
    from howdah._found(v_destination, filter, after, max_rows, 20000, null,
        howdah._redaction_paths(v_destination.name, null, null)) f;
end
$$;
