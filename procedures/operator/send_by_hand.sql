-- howdah.send_by_hand(queue, body, headers, priority, delay, content_type, reason): send one message as a person, and
-- record who sent it and why (howdah.list_acts).
--
-- Returns  the message's id (bigint); NULL for a best-effort message whose store failed.
-- Raises   as howdah.send.
-- Role     howdah_producer howdah_admin
--
-- queue names a queue or a topic; of a list the act names the first. delay is an interval.
create or replace function howdah.send_by_hand(
    queue text, body text, headers jsonb default null, priority integer default null, delay interval default null,
    content_type text default 'text/plain', reason text default null
) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_message_id bigint := howdah.send(queue, body, headers => headers, priority => priority, delay => delay,
        content_type => coalesce(content_type, 'text/plain'));
begin
    if v_message_id is not null then
        perform howdah._record_act('sent', (v_message_id % 1000000)::integer, array[v_message_id], null, reason);
    end if;
    return v_message_id;
end
$$;
