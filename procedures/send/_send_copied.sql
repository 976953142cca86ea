-- howdah._send_copied(p_queue, p_type, p_from, p_to, p_bytes_max, …): send the rows of pg_temp.howdah_copy between two
-- places.
--
-- Returns  the number of messages (bigint); NULL if none was sent because their bodies exceed p_bytes_max bytes
--          together (NULL: no limit).
-- Raises   as howdah.send_batch.
-- Role     internal
--
-- p_type is the type of the bodies. p_bare says that every other column is NULL. The places are ctids, both included; a
-- scan by ctid reads rows in the order in which they were copied. An array with no values in it is passed on as NULL.
create or replace function howdah._send_copied(
    p_queue text, p_type text, p_from tid, p_to tid, p_bytes_max bigint, p_reply_to text, p_time_to_live interval,
    p_delay interval, p_reliability text, p_content_type text, p_notify boolean, p_bare boolean
) returns bigint
language plpgsql volatile
as $$
declare
    v_bodies bytea[];
    v_headers jsonb[];
    v_priorities integer[];
    v_correlation_ids text[];
    v_message_types text[];
    v_conversation_ids uuid[];
    v_deduplication_keys text[];
begin
    if p_bytes_max < (select sum(pg_column_size(c.body)) from pg_temp.howdah_copy c
        where c.ctid between p_from and p_to) then
        return null;
    elsif p_type = 'bytea' then
        select array_agg(c.body) into v_bodies from pg_temp.howdah_copy c where c.ctid between p_from and p_to;
    else
        select array_agg(convert_to(c.body::text, 'UTF8')) into v_bodies from pg_temp.howdah_copy c
        where c.ctid between p_from and p_to;
    end if;
    if v_bodies is null then
        return 0;
    end if;
    if not p_bare then
        select case when count(c.headers) > 0 then array_agg(c.headers) end,
            case when count(c.priority) > 0 then array_agg(c.priority) end,
            case when count(c.correlation_id) > 0 then array_agg(c.correlation_id) end,
            case when count(c.message_type) > 0 then array_agg(c.message_type) end,
            case when count(c.conversation_id) > 0 then array_agg(c.conversation_id) end,
            case when count(c.deduplication_key) > 0 then array_agg(c.deduplication_key) end
        into v_headers, v_priorities, v_correlation_ids, v_message_types, v_conversation_ids, v_deduplication_keys
        from pg_temp.howdah_copy c where c.ctid between p_from and p_to;
    end if;
    perform howdah._send_batch_to(p_queue, v_bodies, p_type <> 'bytea',
        coalesce(p_content_type, case p_type when 'text' then 'text/plain' when 'jsonb' then 'application/json'
            else 'application/octet-stream' end),
        v_headers, v_priorities, v_correlation_ids, v_message_types, v_conversation_ids, p_reply_to, p_time_to_live,
        p_delay, p_reliability, p_notify, v_deduplication_keys);
    return cardinality(v_bodies);
end
$$;
