-- howdah.alter_engine(options): change limits of the whole engine, and from how full on it does what.
--
-- Raises   HD004 unknown or wrong option.
-- Role     howdah_admin
--
-- options is a JSON object; howdah.engine_options() shows each with its value. max_count: messages at most in all queues and subscriptions. max_size: bytes of
-- their bodies at most, a number or a text with the unit b, k or m, such as "10k" (10,240). max_message_bytes, in the same units: the largest body that any queue or
-- topic takes, whatever its own option says. 0 and -1: no limit. yellow_threshold, orange_threshold and red_threshold are
-- percents of these; orange_delay_ms is how long who sends 50 messages waits in orange. archive true: retention drops nothing of the journal and of incidents that is not archived (docs/archive.md). Sun ONE MQ's names, such as imq.system.max_count,
-- imq.message.max_size and imq.red.threshold, are understood too.
create or replace function howdah.alter_engine(options jsonb) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_engine howdah.engine;
    v_option record;
    v_key text;
    v_value bigint;
begin
    if options is null or jsonb_typeof(options) <> 'object' then
        raise exception using errcode = 'HD004', message = 'options must be a JSON object', hint = 'For example {"max_count": 100000}.';
    end if;
    select e.* into v_engine from howdah.engine e for update;
    for v_option in select o.key, o.value #>> '{}' as value, jsonb_typeof(o.value) as type from jsonb_each(options) o loop
        if v_option.key = 'archive' and v_option.type = 'boolean' then
            v_engine.archive := v_option.value::boolean;
            continue;
        end if;
        v_key := case v_option.key when 'imq.message.max_size' then 'max_message_bytes'
            else regexp_replace(regexp_replace(v_option.key, '^imq\.system\.', ''), '^imq\.(yellow|orange|red)\.threshold$', '\1_threshold') end;
        v_value := case when v_key in ('max_size', 'max_message_bytes') then howdah._size(coalesce(v_option.value, '0'))
                        when v_key = 'max_count' and v_option.type = 'null' then 0
                        when v_option.type = 'number' and v_option.value ~ '^-?[0-9]{1,15}$' then v_option.value::bigint end;
        if v_key not in ('max_count', 'max_size', 'max_message_bytes', 'yellow_threshold', 'orange_threshold', 'red_threshold', 'orange_delay_ms', 'archive') then
            raise exception using errcode = 'HD004', message = format('there is no option %s', quote_literal(left(v_option.key, 100))),
                hint = 'Options are: max_count, max_size, max_message_bytes, yellow_threshold, orange_threshold, red_threshold, orange_delay_ms, archive.';
        elsif (case when v_key = 'archive' then false when v_key in ('max_count', 'max_size', 'max_message_bytes') then v_value >= -1
                    when v_key = 'orange_delay_ms' then v_value between 0 and 60000 else v_value between 1 and 100 end) is not true then
            raise exception using errcode = 'HD004', message = format('option %s cannot be %s', v_key, left(coalesce(v_option.value, 'null'), 100)),
                hint = case when v_key = 'archive' then 'It is true or false.' when v_key = 'max_count' then 'It is a whole number, 0 or -1 for no limit.'
                    when v_key in ('max_size', 'max_message_bytes') then 'It is a number of bytes, or a text such as "10k" or "5m"; 0 or -1: no limit.'
                    when v_key = 'orange_delay_ms' then 'It is a whole number from 0 to 60000.' else 'It is a whole number from 1 to 100, percent.' end;
        end if;
        v_engine := jsonb_populate_record(v_engine, jsonb_build_object(case v_key when 'max_size' then 'max_bytes' else v_key end,
            case when v_key like 'max%' and v_value <= 0 then null else v_value end));
    end loop;
    if not (v_engine.yellow_threshold <= v_engine.orange_threshold and v_engine.orange_threshold <= v_engine.red_threshold) then
        raise exception using errcode = 'HD004', message = 'thresholds must ascend from yellow over orange to red',
            hint = 'The defaults are 60, 75 and 90.';
    end if;
    update howdah.engine e set max_count = v_engine.max_count, max_bytes = v_engine.max_bytes, max_message_bytes = v_engine.max_message_bytes, yellow_threshold = v_engine.yellow_threshold,
        orange_threshold = v_engine.orange_threshold, red_threshold = v_engine.red_threshold, orange_delay_ms = v_engine.orange_delay_ms, archive = v_engine.archive;
    perform howdah._close_room('howdah.system_room');
    perform howdah._set_room(d.id) from howdah.destinations d
    where d.dropped_at is null or exists (select from howdah.temporary_queues t where t.destination_id = d.id);  -- ended ones are used again
end
$$;

-- howdah._size(p_size): a number of bytes from a text with the unit b, k or m.
--
-- Returns  bigint; NULL: it is none.
-- Role     internal
create or replace function howdah._size(p_size text) returns bigint
language sql immutable
as $$
    select m.part[1]::bigint * case lower(m.part[2]) when 'k' then 1024 when 'm' then 1048576 else 1 end
    from regexp_match(p_size, '^(-1|[0-9]{1,12})([bkmBKM]?)$') m(part)
$$;

-- howdah.engine_options(): the options of the whole engine with their values.
--
-- Returns  a JSON object, as howdah.alter_engine takes it.
-- Role     howdah_admin howdah_producer howdah_consumer howdah_browser howdah_auditor
create or replace function howdah.engine_options() returns jsonb
language sql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
    select jsonb_build_object('max_count', e.max_count, 'max_size', e.max_bytes, 'max_message_bytes', e.max_message_bytes, 'yellow_threshold', e.yellow_threshold,
        'orange_threshold', e.orange_threshold, 'red_threshold', e.red_threshold, 'orange_delay_ms', e.orange_delay_ms,
        'archive', e.archive)
    from howdah.engine e
$$;
