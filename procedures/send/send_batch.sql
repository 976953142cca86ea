-- howdah.send_batch(queue, bodies, …): send many messages to a queue or topic in one statement, all or nothing.
--
-- Returns  the message ids (bigint[]) in the order of bodies; if queue lists several destinations, the ids in the first
--          one.
-- Raises   HD001 no such queue; HD005 a null body, a wrong argument or arrays of different length; HD006 bad priority;
--          HD007 body too large; HD008 sending is paused; HD010 not allowed; HD017 a conversation was ended; HD018 the
--          queue is full; HD025 a restored database (howdah.rebase_topics); HD027 the engine is full; HD039 the level
--          is above the queue's highest; HD040 the engine is paused, quiesced or stopped; HD002, HD004 the missing
--          queue or topic cannot create itself (docs/auto-creation.md); HD045 the master of changes is away; HD049 a
--          bridge with a transformation needs READ COMMITTED (docs/transformations.md); HD050 a body does not keep to
--          the contract (docs/contracts.md).
-- Role     howdah_producer howdah_admin
--
-- Arrays are NULL or as long as bodies. A single value applies to every message. Arguments mean what they mean in
-- howdah.send.
create or replace function howdah.send_batch(
    queue text, bodies text[], headers jsonb[] default null, priorities integer[] default null,
    correlation_ids text[] default null, message_types text[] default null, conversation_ids uuid[] default null,
    reply_to text default null, time_to_live interval default null, delay interval default null,
    delivery_mode text default null, content_type text default 'text/plain',
    notify boolean default true, deduplication_keys text[] default null, reliability text default null
) returns bigint[]
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    return howdah._send_batch_to(queue,
        case when bodies is not null then
            array(select convert_to(b.body, 'UTF8') from unnest(bodies) with ordinality b(body, n) order by b.n) end,
        true, content_type, headers, priorities, correlation_ids, message_types, conversation_ids, reply_to,
        time_to_live, delay, coalesce(reliability, delivery_mode), notify,
        deduplication_keys);
end
$$;

create or replace function howdah.send_batch(
    queue text, bodies jsonb[], headers jsonb[] default null, priorities integer[] default null,
    correlation_ids text[] default null, message_types text[] default null, conversation_ids uuid[] default null,
    reply_to text default null, time_to_live interval default null, delay interval default null,
    delivery_mode text default null, content_type text default 'application/json',
    notify boolean default true, deduplication_keys text[] default null, reliability text default null
) returns bigint[]
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    return howdah._send_batch_to(queue,
        case when bodies is not null then
            array(select convert_to(b.body::text, 'UTF8') from unnest(bodies) with ordinality b(body, n)
                order by b.n) end,
        true, content_type, headers, priorities, correlation_ids, message_types, conversation_ids, reply_to,
        time_to_live, delay, coalesce(reliability, delivery_mode), notify,
        deduplication_keys);
end
$$;

create or replace function howdah.send_batch(
    queue text, bodies bytea[], headers jsonb[] default null, priorities integer[] default null,
    correlation_ids text[] default null, message_types text[] default null, conversation_ids uuid[] default null,
    reply_to text default null, time_to_live interval default null, delay interval default null,
    delivery_mode text default null, content_type text default 'application/octet-stream',
    notify boolean default true, deduplication_keys text[] default null, reliability text default null
) returns bigint[]
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    return howdah._send_batch_to(queue, bodies, false, content_type, headers, priorities, correlation_ids,
        message_types, conversation_ids, reply_to, time_to_live, delay, coalesce(reliability, delivery_mode), notify,
        deduplication_keys);
end
$$;
