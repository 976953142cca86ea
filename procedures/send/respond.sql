-- howdah.respond(reply_to, body, correlation_id, …): answer a request: send to its reply_to under its correlation_id.
--
-- Returns  the message's id (bigint); NULL if nobody waits for the answer: reply_to is NULL or empty, or a temporary
--          queue that is gone.
-- Raises   HD001 no such queue; HD005 null body or wrong argument; HD006, HD017, HD025 as howdah.send; HD007 body too
--          large; HD008 sending is paused; HD010 not allowed; HD018, HD027 the queue is full; HD039 the level is above
--          the queue's highest; HD040 the engine is paused, quiesced or stopped; HD002, HD004 the missing queue or
--          topic cannot create itself (docs/auto-creation.md); HD045 the master of changes is away; HD049 a bridge with
--          a transformation needs READ COMMITTED (docs/transformations.md); HD050 a body does not keep to the contract
--          (docs/contracts.md).
-- Role     howdah_producer howdah_admin
--
-- The answer is non-persistent unless delivery_mode says otherwise. It is sent in the caller's transaction, and so
-- commits together with the work that it reports. notify => false is as for howdah.send.
create or replace function howdah.respond(
    reply_to text, body text, correlation_id text default null, headers jsonb default null,
    message_type text default null, time_to_live interval default null, delivery_mode text default 'non-persistent',
    content_type text default 'text/plain', reliability text default null,
    notify boolean default true
) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    return case when howdah._is_awaited(reply_to) then howdah._send(reply_to, convert_to(body, 'UTF8'), true,
        content_type, headers, null, correlation_id, null, message_type, null, time_to_live, null,
        coalesce(reliability, delivery_mode), notify, null) end;
end
$$;

create or replace function howdah.respond(
    reply_to text, body jsonb, correlation_id text default null, headers jsonb default null,
    message_type text default null, time_to_live interval default null, delivery_mode text default 'non-persistent',
    content_type text default 'application/json', reliability text default null,
    notify boolean default true
) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    return case when howdah._is_awaited(reply_to) then howdah._send(reply_to, convert_to(body::text, 'UTF8'), true,
        content_type, headers, null, correlation_id, null, message_type, null, time_to_live, null,
        coalesce(reliability, delivery_mode), notify, null) end;
end
$$;

create or replace function howdah.respond(
    reply_to text, body bytea, correlation_id text default null, headers jsonb default null,
    message_type text default null, time_to_live interval default null, delivery_mode text default 'non-persistent',
    content_type text default 'application/octet-stream', reliability text default null,
    notify boolean default true
) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    return case when howdah._is_awaited(reply_to) then howdah._send(reply_to, body, false, content_type, headers, null,
        correlation_id, null, message_type, null, time_to_live, null,
        coalesce(reliability, delivery_mode), notify, null) end;
end
$$;
