-- howdah.selector_matches(selector, headers, priority, correlation_id, message_type, message_id, sent_at,
-- delivery_mode, reliability): try a selector on a message that need not exist.
--
-- Returns  true if such a message is selected; false or NULL (unknown) if not. A NULL, empty or blank selector selects
--          everything.
-- Raises   HD005 headers are no JSON object, or there is no such delivery mode; HD006 bad priority; HD023 the selector
--          is invalid.
-- Role     everybody
create or replace function howdah.selector_matches(
    selector text, headers jsonb, priority integer default 4, correlation_id text default null,
    message_type text default null, message_id bigint default null, sent_at timestamptz default null,
    delivery_mode text default 'persistent', reliability text default null
) returns boolean
language plpgsql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_sql text := howdah._compile_selector(selector);
    v_result boolean;
begin
    if jsonb_typeof(headers) <> 'object' then
        raise exception using errcode = 'HD005', message = format('headers must be a JSON object, not %s',
            jsonb_typeof(headers));
    elsif priority is null or priority not between 0 and 9 then
        raise exception using errcode = 'HD006', message = format('priority %s is not between 0 and 9',
            coalesce(priority::text, 'NULL'));
    elsif v_sql is null then
        return true;
    end if;
    execute 'select ' || v_sql
        || ' from (select $1 as headers, 9 - $2 as rank, $3 as correlation_id, $4 as message_type, $5 as message_id,'
        ' $6 as sent_at, $7 <= 2 as nonpersistent, $7 as reliability offset 0) m'
    into v_result
    using headers, priority, correlation_id, message_type, message_id, sent_at,
        howdah._reliability_number(coalesce(reliability, delivery_mode));
    return v_result;
end
$$;
