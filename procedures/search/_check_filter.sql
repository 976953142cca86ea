-- howdah._check_filter(p_filter, p_after): refuse a filter for messages that has an unknown key or a wrong value, and a
-- cursor that no search gave.
--
-- Raises   HD005 it has.
-- Role     internal
create or replace function howdah._check_filter(p_filter jsonb, p_after jsonb) returns void
language plpgsql stable
as $$
declare
    v_states constant text[] := '{ready,delayed,leased,parked,dead,expired}';
    v_texts constant text[] := '{selector,body,group,cause,error_class,origin}';
    v_trace constant text := '^[0-9a-f]{32}$';
    v_times constant text[] := '{sent_after,sent_before}';
    v_key text;
    v_value jsonb;
begin
    if p_filter is null or jsonb_typeof(p_filter) <> 'object' then
        raise exception using errcode = 'HD005', message = 'filter must be a JSON object',
            hint = 'For all messages: {}.';
    end if;
    if p_after is not null and jsonb_typeof(p_after) <> 'null' and not coalesce(
        p_after ->> 'place' ~ '^[1-4]$' and p_after ->> 'rank' ~ '^[0-9]$' and p_after ->> 'key' ~ '^[0-9]{1,18}$',
        false) then
        raise exception using errcode = 'HD005', message = 'after is no cursor of a search',
            hint = 'Pass the cursor of the row before, as it is.';
    end if;
    for v_key, v_value in select e.key, e.value from jsonb_each(p_filter) e loop
        if not (case
            when v_key = 'header' then jsonb_typeof(v_value) = 'object'
            when v_key = 'state' then jsonb_typeof(v_value) = 'string' and v_value #>> '{}' = any (v_states)
            when v_key = 'min_priority' then
                case when jsonb_typeof(v_value) = 'number' then (v_value #>> '{}') ~ '^[0-9]$' else false end
            when v_key = 'trace' then jsonb_typeof(v_value) = 'string' and v_value #>> '{}' ~ v_trace
            when v_key = any (v_texts) then jsonb_typeof(v_value) = 'string'
            when v_key = any (v_times) then
                case when jsonb_typeof(v_value) = 'string'
                    then howdah._is_time(v_value #>> '{}') else false end
            else false end) then
            raise exception using errcode = 'HD005',
                message = format('filter has a wrong %s: %s', quote_literal(left(v_key, 100)),
                    left(v_value::text, 200)),
                hint = 'Keys: selector, header (an object), body, state (' || array_to_string(v_states, ', ')
                    || '), min_priority (0 to 9), group, sent_after, sent_before, cause, error_class, origin, '
                    || 'trace (32 hexadecimal digits).';
        end if;
    end loop;
end
$$;
