-- howdah._auto_limits(p_options): options of an engine, with autocreate_options in place of limits under Sun ONE MQ's
-- names.
--
-- Returns  jsonb. Limits that are not named stay.
-- Raises   HD004 a limit is no size.
-- Role     internal
create or replace function howdah._auto_limits(p_options jsonb) returns jsonb
language plpgsql stable
as $$
declare
    v_limits jsonb;
begin
    select jsonb_object_agg(n.name, coalesce(howdah._parse_size(o.value #>> '{}'), -2)) into v_limits
    from jsonb_each(p_options) o
    join (values ('imq.autocreate.destination.maxNumMsgs', 'message_limit'),
        ('imq.autocreate.destination.maxTotalMsgBytes', 'byte_limit'),
        ('imq.autocreate.destination.maxBytesPerMsg', 'max_message_bytes')) n(key, name) on n.key = o.key;
    if v_limits is null then
        return p_options;
    elsif exists (select from jsonb_each(v_limits) l where l.value = '-2') then
        raise exception using errcode = 'HD004', message = 'a limit of imq.autocreate.destination is not a size',
            hint = 'Write a number, or a text such as "10k" or "5m"; 0 or -1 means no limit.';
    end if;
    if v_limits ->> 'max_message_bytes' in ('0', '-1') then
        v_limits := v_limits || '{"max_message_bytes": 1073741823}';
    end if;
    return p_options - array['imq.autocreate.destination.maxNumMsgs', 'imq.autocreate.destination.maxTotalMsgBytes',
        'imq.autocreate.destination.maxBytesPerMsg']
        || jsonb_build_object('autocreate_options', coalesce(p_options -> 'autocreate_options',
            (select e.autocreate_options from howdah.engine e)) || v_limits);
end
$$;
