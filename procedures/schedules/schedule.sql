-- howdah.schedule(queue, body, …): send a message by the clock: at a given time, several times with a period between,
-- or by a cron expression.
--
-- Returns  the schedule's number (bigint), which is the header scheduledJobId of its messages. For a single delivery to
--          a queue, the message's id.
-- Raises   HD001 no such queue; HD005 null body or wrong argument; HD006 bad priority; HD007 body too large; HD008
--          sending is paused; HD010 not allowed; HD017 the conversation was ended; HD018, HD027 the queue is full;
--          HD025 a restored database; HD029 a schedule of that name is somebody else's; HD039 the level is above the
--          queue's highest; HD040 the engine is paused, quiesced or stopped; HD002, HD004 the missing queue or topic
--          cannot create itself (docs/auto-creation.md); HD045 the master of changes is away; HD049 a bridge with a
--          transformation needs READ COMMITTED (docs/transformations.md); HD050 a body does not keep to the contract
--          (docs/contracts.md).
-- Role     howdah_producer howdah_admin
--
-- Without cron and period there is one delivery, at starts_at or after delay. If it goes to a queue, it is a delayed
-- message, for which nothing needs to run. Otherwise workers or `howdah scheduler` fire the schedule, each firing once
-- however many they are.
--
-- period: the first firing comes after delay, or else at starts_at, or else after one period. There are 1 + repeat
-- firings in all (NULL or -1: no end).
--
-- cron: five fields, read in time_zone (a name such as Europe/Vienna). With period and repeat each firing begins a
-- series; otherwise delay is ignored. Nothing fires after ends_at.
--
-- Firings missed while no scheduler ran are all made up for with catch_up. Without it, one message stands for all of
-- them. The default is to make up for all firings of a period with repeat, and of a series. A firing that is later than
-- misfire_grace is left out.
--
-- name replaces the schedule of that name. The same definition again changes nothing, also once the schedule has ended,
-- unless it was only delayed; howdah.cancel_schedule frees the name. Each message has the headers scheduledJobId and
-- scheduledTime (ms since 1970). time_to_live counts from the firing. queue names a queue or a topic; the other
-- arguments are those of howdah.send.
create or replace function howdah.schedule(
    queue text, body text, cron text default null, period interval default null, repeat integer default null,
    starts_at timestamptz default null, ends_at timestamptz default null, delay interval default null,
    name text default null, time_zone text default 'UTC', catch_up boolean default null,
    misfire_grace interval default null, headers jsonb default null,
    priority integer default null, correlation_id text default null, reply_to text default null,
    message_type text default null, conversation_id uuid default null, time_to_live interval default null,
    delivery_mode text default null, content_type text default 'text/plain', reliability text default null
) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_id bigint;
begin
    v_id := howdah._schedule(queue, convert_to(body, 'UTF8'), true, cron, period, repeat, starts_at, ends_at, delay,
        name, time_zone, catch_up, misfire_grace, headers, priority, correlation_id, reply_to, message_type,
        conversation_id,
        time_to_live, coalesce(reliability, delivery_mode), content_type);
    return case when name is null then v_id else howdah._name_schedule(v_id, name) end;
end
$$;

create or replace function howdah.schedule(
    queue text, body jsonb, cron text default null, period interval default null, repeat integer default null,
    starts_at timestamptz default null, ends_at timestamptz default null, delay interval default null,
    name text default null, time_zone text default 'UTC', catch_up boolean default null,
    misfire_grace interval default null, headers jsonb default null,
    priority integer default null, correlation_id text default null, reply_to text default null,
    message_type text default null, conversation_id uuid default null, time_to_live interval default null,
    delivery_mode text default null, content_type text default 'application/json', reliability text default null
) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_id bigint;
begin
    v_id := howdah._schedule(queue, convert_to(body::text, 'UTF8'), true, cron, period, repeat, starts_at, ends_at,
        delay, name, time_zone, catch_up, misfire_grace, headers, priority, correlation_id, reply_to, message_type,
        conversation_id,
        time_to_live, coalesce(reliability, delivery_mode), content_type);
    return case when name is null then v_id else howdah._name_schedule(v_id, name) end;
end
$$;

create or replace function howdah.schedule(
    queue text, body bytea, cron text default null, period interval default null, repeat integer default null,
    starts_at timestamptz default null, ends_at timestamptz default null, delay interval default null,
    name text default null, time_zone text default 'UTC', catch_up boolean default null,
    misfire_grace interval default null, headers jsonb default null,
    priority integer default null, correlation_id text default null, reply_to text default null,
    message_type text default null, conversation_id uuid default null, time_to_live interval default null,
    delivery_mode text default null, content_type text default 'application/octet-stream', reliability text default null
) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_id bigint;
begin
    v_id := howdah._schedule(queue, body, false, cron, period, repeat, starts_at, ends_at, delay, name, time_zone,
        catch_up, misfire_grace, headers, priority, correlation_id, reply_to, message_type, conversation_id,
        time_to_live, coalesce(reliability, delivery_mode),
        content_type);
    return case when name is null then v_id else howdah._name_schedule(v_id, name) end;
end
$$;
