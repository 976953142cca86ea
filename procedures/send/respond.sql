-- howdah.respond(reply_to, body, correlation_id, …): answer a request: send to its reply_to, under its correlation_id.
--
-- Returns  the message's number (bigint); NULL if nobody waits for it: reply_to is NULL or empty, or a temporary queue that is gone.
-- Raises   HD001 no such queue; HD005 null body or wrong argument; HD006, HD017, HD025 as howdah.send; HD007 body too large; HD008 sending is paused;
--          HD010 not allowed; HD018, HD027 the queue is full.
-- Role     howdah_producer howdah_admin
--
-- Non-persistent unless delivery_mode says otherwise. It is sent in the caller's transaction, so together with what it tells of.
create or replace function howdah.respond(
    reply_to text, body text, correlation_id text default null, headers jsonb default null, message_type text default null,
    time_to_live interval default null, delivery_mode text default 'non-persistent', content_type text default 'text/plain'
) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    return case when howdah._is_awaited(reply_to) then howdah._send(reply_to, convert_to(body, 'UTF8'), true, content_type, headers, null,
        correlation_id, null, message_type, null, time_to_live, null, delivery_mode, true, null) end;
end
$$;

create or replace function howdah.respond(
    reply_to text, body jsonb, correlation_id text default null, headers jsonb default null, message_type text default null,
    time_to_live interval default null, delivery_mode text default 'non-persistent', content_type text default 'application/json'
) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    return case when howdah._is_awaited(reply_to) then howdah._send(reply_to, convert_to(body::text, 'UTF8'), true, content_type, headers, null,
        correlation_id, null, message_type, null, time_to_live, null, delivery_mode, true, null) end;
end
$$;

create or replace function howdah.respond(
    reply_to text, body bytea, correlation_id text default null, headers jsonb default null, message_type text default null,
    time_to_live interval default null, delivery_mode text default 'non-persistent', content_type text default 'application/octet-stream'
) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    return case when howdah._is_awaited(reply_to) then howdah._send(reply_to, body, false, content_type, headers, null,
        correlation_id, null, message_type, null, time_to_live, null, delivery_mode, true, null) end;
end
$$;

-- howdah._is_awaited(p_reply_to): whether somebody may still read what is sent to a request's reply_to.
--
-- Returns  boolean.
-- Role     internal
create or replace function howdah._is_awaited(p_reply_to text) returns boolean
language sql volatile
as $$
    select p_reply_to <> '' and (not p_reply_to ^@ '_TEMP.' or exists (
        select from howdah.destinations d join howdah.temporary_queues t on t.destination_id = d.id
        where d.name = p_reply_to and d.dropped_at is null and t.boot = pg_postmaster_start_time()
          and (t.connection = current_setting('howdah.connection', true) or howdah._connection_lives(t))
          and howdah._hold_temporary(d)))
$$;
