-- howdah.send(queue, body, …): put one message into a queue, in the caller's transaction.
--
-- Returns  the message's number (bigint).
-- Raises   HD001 no such queue; HD005 null body or wrong argument; HD006 bad priority; HD007 body too large;
--          HD008 sending is paused; HD010 not allowed.
-- Role     howdah_producer howdah_admin
--
-- body is text, jsonb or bytea; text and JSON come back as text, bytea as the exact bytes. headers is a JSON object.
-- priority is 0 to 9 (the queue's default is 4). time_to_live and delay count from this call; the message expires at
-- the one and is not delivered before the other. delivery_mode is persistent, or non-persistent: no WAL, and any
-- restart of the server loses the message.
create or replace function howdah.send(
    queue text, body text, headers jsonb default null, priority integer default null, correlation_id text default null,
    reply_to text default null, message_type text default null, conversation_id uuid default null,
    time_to_live interval default null, delay interval default null, delivery_mode text default 'persistent',
    content_type text default 'text/plain'
) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    return howdah._send(queue, convert_to(body, 'UTF8'), true, content_type, headers, priority, correlation_id,
        reply_to, message_type, conversation_id, time_to_live, delay, delivery_mode);
end
$$;

create or replace function howdah.send(
    queue text, body jsonb, headers jsonb default null, priority integer default null, correlation_id text default null,
    reply_to text default null, message_type text default null, conversation_id uuid default null,
    time_to_live interval default null, delay interval default null, delivery_mode text default 'persistent',
    content_type text default 'application/json'
) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    return howdah._send(queue, convert_to(body::text, 'UTF8'), true, content_type, headers, priority, correlation_id,
        reply_to, message_type, conversation_id, time_to_live, delay, delivery_mode);
end
$$;

create or replace function howdah.send(
    queue text, body bytea, headers jsonb default null, priority integer default null, correlation_id text default null,
    reply_to text default null, message_type text default null, conversation_id uuid default null,
    time_to_live interval default null, delay interval default null, delivery_mode text default 'persistent',
    content_type text default 'application/octet-stream'
) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    return howdah._send(queue, body, false, content_type, headers, priority, correlation_id,
        reply_to, message_type, conversation_id, time_to_live, delay, delivery_mode);
end
$$;
