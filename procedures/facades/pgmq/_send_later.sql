-- pgmq._send_later(p_queue, p_message, p_headers, p_delay): store one message that is visible after some seconds.
--
-- Returns  its msg_id (bigint).
-- Raises   as pgmq.send.
-- Role     internal
create or replace function pgmq._send_later(p_queue text, p_message jsonb, p_headers jsonb, p_delay integer)
returns bigint
language plpgsql volatile
as $$
begin
    if p_delay = 0 then
        return pgmq._send(p_queue, p_message, p_headers, null);
    end if;
    return pgmq._send_delayed(pgmq._refuse(p_queue, 'send'), array[p_message], array[p_headers],
        howdah.now() + make_interval(secs => p_delay));
end
$$;
