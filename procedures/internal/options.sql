-- howdah._option_number(p_key, p_value, p_least, p_most): the whole number of an option.
--
-- Returns  bigint.
-- Raises   HD004 it is no whole number or out of bounds.
-- Role     internal
create or replace function howdah._option_number(p_key text, p_value jsonb, p_least bigint, p_most bigint) returns bigint
language plpgsql immutable
as $$
begin
    if jsonb_typeof(p_value) <> 'number' or (p_value #>> '{}')::numeric not between p_least and p_most
       or (p_value #>> '{}')::numeric % 1 <> 0 then
        raise exception using errcode = 'HD004',
            message = format('option %s cannot be %s', p_key, left(p_value::text, 100)),
            hint = format('It is a whole number from %s to %s.', p_least, p_most);
    end if;
    return (p_value #>> '{}')::numeric::bigint;
end
$$;

-- howdah._option_choice(p_key, p_value, p_choices): the word of an option.
--
-- Returns  text, one of p_choices.
-- Raises   HD004 it is none of them.
-- Role     internal
create or replace function howdah._option_choice(p_key text, p_value jsonb, p_choices text[]) returns text
language plpgsql immutable
as $$
begin
    if jsonb_typeof(p_value) <> 'string' or not (p_value #>> '{}') = any (p_choices) then
        raise exception using errcode = 'HD004',
            message = format('option %s cannot be %s', p_key, left(p_value::text, 100)),
            hint = format('It is one of: %s.', array_to_string(p_choices, ', '));
    end if;
    return p_value #>> '{}';
end
$$;

-- howdah._with_options(p_destination, p_options): a destination's row with options applied.
--
-- Returns  the changed row; nothing is written.
-- Raises   HD004 an option is unknown or wrong; HD003 exception_queue is no queue name.
-- Role     internal
create or replace function howdah._with_options(p_destination howdah.destinations, p_options jsonb) returns howdah.destinations
language plpgsql volatile
as $$
declare
    v_key text;
    v_value jsonb;
    v_most constant bigint := 3155760000000;
begin
    if p_options is null or jsonb_typeof(p_options) <> 'object' then
        raise exception using errcode = 'HD004', message = 'options must be a JSON object',
            hint = 'For example {"max_failed_deliveries": 3}.';
    end if;
    for v_key, v_value in select o.key, o.value from jsonb_each(p_options) o loop
        case v_key
            when 'max_failed_deliveries' then
                p_destination.max_failed_deliveries := howdah._option_number(v_key, v_value, 0, 1000000);
            when 'exception_mode' then
                p_destination.exception_mode := howdah._option_choice(v_key, v_value, array['system', 'named', 'none']);
                if p_destination.exception_mode <> 'named' then
                    p_destination.exception_queue := null;
                end if;
            when 'exception_queue' then
                if jsonb_typeof(v_value) <> 'string' then
                    raise exception using errcode = 'HD004', message = 'option exception_queue must be the name of a queue';
                end if;
                perform howdah._check_name(v_value #>> '{}');
                p_destination.exception_queue := v_value #>> '{}';
                p_destination.exception_mode := 'named';
            when 'redelivery_delay_ms' then
                p_destination.redelivery_delay_ms := howdah._option_number(v_key, v_value, 0, v_most);
            when 'blocked_retry_ms' then
                p_destination.blocked_retry_ms := howdah._option_number(v_key, v_value, 0, v_most);
            when 'max_message_bytes' then
                p_destination.max_message_bytes := howdah._option_number(v_key, v_value, 1, 1073741823);
            when 'default_priority' then
                p_destination.default_priority := howdah._option_number(v_key, v_value, 0, 9);
            when 'default_time_to_live_ms' then
                p_destination.default_time_to_live_ms :=
                    case when v_value = 'null' then null else howdah._option_number(v_key, v_value, 1, v_most) end;
            when 'journal_level' then
                if howdah._option_choice(v_key, v_value, array['off', 'exits', 'full']) <> p_destination.journal_level then
                    p_destination.journal_level := v_value #>> '{}';
                    p_destination.journal_level_at := howdah.now();
                end if;
            else
                raise exception using errcode = 'HD004',
                    message = format('there is no option %s', quote_literal(left(v_key, 100))),
                    hint = 'Options are: max_failed_deliveries, exception_mode, exception_queue, redelivery_delay_ms, '
                        'blocked_retry_ms, max_message_bytes, default_priority, default_time_to_live_ms, journal_level.';
        end case;
    end loop;
    if p_destination.exception_mode = 'named' and p_destination.exception_queue is null then
        raise exception using errcode = 'HD004', message = 'option exception_mode "named" needs the option exception_queue';
    end if;
    if p_options ? 'exception_queue' and p_options ->> 'exception_mode' <> 'named' then
        raise exception using errcode = 'HD004', message = 'option exception_queue goes with exception_mode "named" only';
    end if;
    if p_destination.exception_queue = p_destination.name then
        raise exception using errcode = 'HD004', message = 'a queue cannot be its own exception_queue',
            hint = 'exception_mode "none" keeps messages past the limit in the queue.';
    end if;
    return p_destination;
end
$$;
