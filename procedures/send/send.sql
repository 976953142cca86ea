-- howdah.send(queue, body, …): send one message to a queue or topic in the caller's transaction.
--
-- Returns  the message's id (bigint).
-- Raises   HD001 no such queue; HD005 null body or wrong argument; HD006 bad priority; HD007 body too large; HD008
--          sending is paused; HD010 not allowed; HD017 the conversation was ended; HD018 the queue is full; HD025 a
--          restored database (howdah.rebase_topics); HD027 the engine is full; HD039 the level is above the queue's
--          highest; HD040 the engine is paused, quiesced or stopped; HD002, HD004 the missing queue or topic cannot
--          create itself (docs/auto-creation.md); HD045 the master of changes is away; HD049 a bridge with a
--          transformation needs READ COMMITTED (docs/transformations.md); HD050 a body does not keep to the contract
--          (docs/contracts.md).
-- Role     howdah_producer howdah_admin
--
-- body is text, jsonb or bytea. Text and JSON come back as text; bytea comes back as the exact bytes. headers is a JSON
-- object. priority is 0 to 9; the queue's default is 4.
--
-- time_to_live and delay count from this call. The message expires after time_to_live, and is not delivered before
-- delay has passed.
--
-- reliability is one of five levels (docs/reliability.md): BEST_EFFORT_NONPERSISTENT, EXPRESS_NONPERSISTENT,
-- RELIABLE_NONPERSISTENT, RELIABLE_PERSISTENT or ASSURED_PERSISTENT. Without it delivery_mode decides: persistent is
-- assured, non-persistent is express. Without both the queue's default decides. A message of a non-persistent level
-- writes no WAL, and any restart of the server loses it.
--
-- notify => false sends no NOTIFY. The transaction can then be prepared (PREPARE TRANSACTION), and idle consumers find
-- the message within 250 ms, when they next look.
--
-- deduplication_key: if a message with this key was sent there within the queue's deduplication_window_ms, nothing is
-- stored. The call then returns that message's id.
--
-- queue names a queue or a topic. A topic's message is stored once and goes to every subscription that exists.
--
-- queue can also list several destinations, each with or without queue:// or topic://: A,B,topic://C. Each gets a
-- message of its own, or none does. The id returned is the first one's.
--
-- One statement stores the usual message. It stores nothing if the queue, the caller or the message is not usual;
-- howdah._send then handles the call, and raises the errors. Each type of body has the whole text, because a function
-- call would cost 7 us; procedures/rendering.py renders it.
--
-- The size of the body is computed once: each use of a function in the statement costs 1 % of a call. A send to a queue
-- without copied senders, {}, never takes the fast path: see howdah._copy_rights_of.
--
-- howdah._send_with_headers does the same for headers, priorities and times to live, and where the journal records
-- sends. howdah._send_large stores a large body in a table of its own. The transaction gets its id before it draws a
-- position; howdah._set_mark says why. A session that has published to a topic remembers the topic's name, and skips
-- all that is for queues. Each IF prepares its functions anew, even those that it does not come to.
-- for BODY_TYPE in text, jsonb, bytea:
create or replace function howdah.send(
    queue text, body BODY_TYPE, headers jsonb default null, priority integer default null,
    correlation_id text default null, reply_to text default null, message_type text default null,
    conversation_id uuid default null, time_to_live interval default null, delay interval default null,
    delivery_mode text default null, content_type text default 'MEDIA_TYPE', notify boolean default true,
    deduplication_key text default null, reliability text default null
) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah,
    pg_temp set plan_cache_mode = force_generic_plan
as $$
declare
    v_bytes constant integer := octet_length(BODY_VALUE);
    v_message_id bigint;
begin
    if queue is distinct from current_setting('howdah.topic', true)
       and headers is null and priority is null and time_to_live is null and delay is null
       and (reliability is null or reliability = 'ASSURED_PERSISTENT')
       and (delivery_mode is null or delivery_mode = 'persistent') and conversation_id is null
       and deduplication_key is null and content_type <> ''
       and not howdah._is_large(v_bytes) then
        insert into howdah.msgs (seq, message_id, sent_at, expires_at, destination_id, rank, stage, is_text,
            content_type, body, correlation_id, reply_to, message_type, conversation_id)
        select d.seq, d.seq * 1000000 + d.id, d.now, d.now + d.default_time_to_live, d.id, d.main_rank, 0,
            IS_TEXT, send.content_type, BODY_BYTES, send.correlation_id, send.reply_to, send.message_type,
            null::uuid
        from (
            select c.id, c.main_rank, c.default_time_to_live, howdah.now() as now,
            case when pg_current_xact_id() is not null then nextval(c.positions) end as seq
            from howdah.destinations c
            where c.name = queue and c.dropped_at is null and c.usual_send
              and c.assured and v_bytes <= c.max_message_bytes
              and howdah._lets_in(c.id, c.room, c.tickets, 1, v_bytes, c.senders, c.waiting, notify)
        ) d
        returning message_id into v_message_id;
        if v_message_id is not null and (current_setting('howdah.commit_by_reliability', true) <> '') is not true then
            return v_message_id;
        elsif v_message_id is not null then
            return howdah._commit_needs(4, v_message_id);
        elsif exists (select from howdah.destinations d
            where d.name = queue and d.dropped_at is null and d.usual_batch and not d.usual_send) then
            v_message_id := howdah._send_with_headers(queue, BODY_BYTES, IS_TEXT, content_type, headers, priority,
                time_to_live, correlation_id, reply_to, message_type, notify, true);
            if v_message_id is not null then
                return v_message_id;
            end if;
        end if;
    elsif queue is distinct from current_setting('howdah.topic', true) and headers is null and priority is null
       and time_to_live is null and delay is null and conversation_id is null and deduplication_key is null
       and content_type <> '' then
        if howdah._is_large(v_bytes) then
            if (reliability is null or reliability = 'ASSURED_PERSISTENT')
               and (delivery_mode is null or delivery_mode = 'persistent') then
                v_message_id := howdah._send_large(queue, BODY_BYTES, IS_TEXT, content_type,
                    correlation_id, reply_to, message_type, notify);
            end if;
        elsif reliability = 'RELIABLE_PERSISTENT' then
            v_message_id := howdah._send_reliable(queue, BODY_BYTES, IS_TEXT, content_type, correlation_id,
                reply_to, message_type, notify);
        else
            v_message_id := howdah._send_nonpersistent(queue, BODY_BYTES, IS_TEXT, content_type, correlation_id,
                reply_to, message_type, notify, case coalesce(reliability, delivery_mode)
                    when 'BEST_EFFORT_NONPERSISTENT' then 0 when 'RELIABLE_NONPERSISTENT' then 2
                    when 'EXPRESS_NONPERSISTENT' then 1 when 'non-persistent' then 1 end);
        end if;
        if v_message_id is not null then
            return v_message_id;
        end if;
    elsif queue is distinct from current_setting('howdah.topic', true) and delay is null
       and (reliability is null or reliability = 'ASSURED_PERSISTENT')
       and (delivery_mode is null or delivery_mode = 'persistent') and conversation_id is null
       and deduplication_key is null and content_type <> '' then
        v_message_id := howdah._send_with_headers(queue, BODY_BYTES, IS_TEXT, content_type, headers, priority,
            time_to_live, correlation_id, reply_to, message_type, notify);
        if v_message_id is not null then
            return v_message_id;
        end if;
    end if;
    if delay is null and (reliability is null or reliability = 'ASSURED_PERSISTENT')
       and (delivery_mode is null or delivery_mode = 'persistent')
       and deduplication_key is null then
        v_message_id := howdah._publish_usual(queue, BODY_BYTES, IS_TEXT, content_type, headers,
            priority, correlation_id, reply_to, message_type, conversation_id, time_to_live, notify);
        if v_message_id is not null then
            return v_message_id;
        end if;
    end if;
    return howdah._send(queue, BODY_BYTES, IS_TEXT, content_type, headers, priority,
        correlation_id, reply_to, message_type, conversation_id, time_to_live, delay,
        coalesce(reliability, delivery_mode), notify, deduplication_key);
end
$$;

-- end for
