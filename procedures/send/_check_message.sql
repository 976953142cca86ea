-- howdah._check_message(p_destination, …): refuse a message that cannot be sent to a destination, before anything is
-- written.
--
-- Raises   HD005 null body or wrong argument; HD006 bad priority; HD007 body too large; HD008 sending is paused;
--          HD040 the engine is paused, quiesced or stopped.
-- Role     internal
create or replace function howdah._check_message(
    p_destination howdah.destinations, p_body_bytes bigint, p_headers jsonb, p_priority integer, p_content_type text,
    p_time_to_live interval, p_delay interval
) returns void
language plpgsql volatile
as $$
begin
    if p_destination.sending_paused then
        perform howdah._refuse_sending(p_destination);
    end if;
    if p_body_bytes is null then
        raise exception using errcode = 'HD005', message = 'the body of a message cannot be NULL',
            hint = 'An empty body is allowed.';
    end if;
    if p_body_bytes > p_destination.max_message_bytes then
        if p_destination.max_message_bytes = (select e.max_message_bytes from howdah.engine e) then
            raise exception using errcode = 'HD007',
                message = format('the body has %s bytes, the engine takes at most %s', p_body_bytes,
                    p_destination.max_message_bytes),
                hint =
                    'An administrator raises the option max_message_bytes of howdah.alter_engine; or send a reference '
                    'to where the content lies.';
        end if;
        raise exception using errcode = 'HD007',
            message = format('the body has %s bytes, queue %s takes at most %s', p_body_bytes,
                quote_literal(p_destination.name), p_destination.max_message_bytes),
            hint = 'Raise the option max_message_bytes, or send a reference to where the content lies.';
    end if;
    if p_priority is not null and p_priority not between 0 and 9 then
        raise exception using errcode = 'HD006', message = format('priority %s is not between 0 and 9', p_priority);
    end if;
    if p_headers is not null and jsonb_typeof(p_headers) <> 'object' then
        raise exception using errcode = 'HD005',
            message = format('headers must be a JSON object, not %s', jsonb_typeof(p_headers));
    end if;
    if p_content_type is null or p_content_type = '' then
        raise exception using errcode = 'HD005', message = 'content_type cannot be empty';
    end if;
    -- Comparing intervals counts a month as 30 days; extracting the epoch counts a year as 365.25 days. Both must hold.
    if p_time_to_live <= interval '0' or p_time_to_live > interval '100 years'
       or extract(epoch from p_time_to_live) <= 0 then
        raise exception using errcode = 'HD005',
            message = format('time_to_live %s is not positive, or over 100 years', p_time_to_live),
            hint = 'Leave it out for a message that never expires.';
    end if;
    if p_delay < interval '0' or p_delay > interval '100 years' or extract(epoch from p_delay) < 0 then
        raise exception using errcode = 'HD005', message = format('delay %s is negative or over 100 years', p_delay);
    end if;
end
$$;
