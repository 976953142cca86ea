-- howdah.schedule(queue, body, …): send a message by the clock: at a time, so often with a period between, or by a cron
-- expression.
--
-- Returns  the schedule's number (bigint), the header scheduledJobId of what it sends. Of one delivery to a queue the
--          message's number.
-- Raises   HD001 no such queue; HD005 null body or wrong argument; HD006 bad priority; HD007 body too large; HD008
--          sending is paused; HD010 not allowed; HD017 the conversation was ended; HD018, HD027 the queue is full;
--          HD025 a restored database; HD029 a schedule of that name is somebody else's.
-- Role     howdah_producer howdah_admin
--
-- Without cron and period: one delivery, at starts_at or after delay; to a queue that is a delayed message, for which
-- nothing has to run. Otherwise workers or `howdah scheduler` fire it, each firing once however many they are. period:
-- first after delay, else at starts_at, else after a period; then 1 + repeat times in all (NULL or -1: for ever). cron:
-- five fields, read in time_zone (a name such as Europe/Vienna); with period and repeat each firing begins a series,
-- otherwise delay is ignored. No firing after ends_at. Firings missed while nobody was there to fire are made up for
-- all (catch_up), or by one message for all of them; the default is all of a period with repeat, and of a series. One
-- that is later than misfire_grace is left out. name: replaces the schedule of that name; the same definition again
-- changes nothing. Each message has the headers scheduledJobId and scheduledTime (ms since 1970); time_to_live counts
-- from the firing. queue is the name of a queue or a topic; the other arguments are those of howdah.send.
create or replace function howdah.schedule(
    queue text, body text, cron text default null, period interval default null, repeat integer default null,
    starts_at timestamptz default null, ends_at timestamptz default null, delay interval default null,
    name text default null,
    time_zone text default 'UTC', catch_up boolean default null, misfire_grace interval default null,
    headers jsonb default null,
    priority integer default null, correlation_id text default null, reply_to text default null,
    message_type text default null,
    conversation_id uuid default null, time_to_live interval default null, delivery_mode text default 'persistent',
    content_type text default 'text/plain'
) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_id bigint;
begin
    v_id := howdah._schedule(queue, convert_to(body, 'UTF8'), true, cron, period, repeat, starts_at, ends_at, delay,
        name, time_zone,
        catch_up, misfire_grace, headers, priority, correlation_id, reply_to, message_type, conversation_id,
        time_to_live, delivery_mode, content_type);
    return case when name is null then v_id else howdah._name_schedule(v_id, name) end;
end
$$;

create or replace function howdah.schedule(
    queue text, body jsonb, cron text default null, period interval default null, repeat integer default null,
    starts_at timestamptz default null, ends_at timestamptz default null, delay interval default null,
    name text default null,
    time_zone text default 'UTC', catch_up boolean default null, misfire_grace interval default null,
    headers jsonb default null,
    priority integer default null, correlation_id text default null, reply_to text default null,
    message_type text default null,
    conversation_id uuid default null, time_to_live interval default null, delivery_mode text default 'persistent',
    content_type text default 'application/json'
) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_id bigint;
begin
    v_id := howdah._schedule(queue, convert_to(body::text, 'UTF8'), true, cron, period, repeat, starts_at, ends_at,
        delay, name, time_zone,
        catch_up, misfire_grace, headers, priority, correlation_id, reply_to, message_type, conversation_id,
        time_to_live, delivery_mode, content_type);
    return case when name is null then v_id else howdah._name_schedule(v_id, name) end;
end
$$;

create or replace function howdah.schedule(
    queue text, body bytea, cron text default null, period interval default null, repeat integer default null,
    starts_at timestamptz default null, ends_at timestamptz default null, delay interval default null,
    name text default null,
    time_zone text default 'UTC', catch_up boolean default null, misfire_grace interval default null,
    headers jsonb default null,
    priority integer default null, correlation_id text default null, reply_to text default null,
    message_type text default null,
    conversation_id uuid default null, time_to_live interval default null, delivery_mode text default 'persistent',
    content_type text default 'application/octet-stream'
) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_id bigint;
begin
    v_id := howdah._schedule(queue, body, false, cron, period, repeat, starts_at, ends_at, delay, name, time_zone,
        catch_up, misfire_grace,
        headers, priority, correlation_id, reply_to, message_type, conversation_id, time_to_live, delivery_mode,
        content_type);
    return case when name is null then v_id else howdah._name_schedule(v_id, name) end;
end
$$;
