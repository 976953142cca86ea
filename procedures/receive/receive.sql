-- howdah.receive(queue, max_messages): take messages; COMMIT consumes them, ROLLBACK puts them back in their place.
--
-- Returns  up to max_messages rows of howdah.message, by priority and position; none if the queue has none to give.
-- Raises   HD001 no such queue; HD005 max_messages is not 1 to 10000; HD009 receiving is paused; HD010 not allowed.
-- Role     howdah_consumer howdah_admin
--
-- Messages that other transactions are receiving are passed by. Expired ones are discarded, and one whose recorded
-- failures have reached the queue's limit goes to the exception destination instead of to the caller.
create or replace function howdah.receive(queue text, max_messages integer default 1) returns setof howdah.message
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    return query select * from howdah._receive(queue, max_messages, true);
end
$$;

-- howdah._receive(p_queue, p_max_messages, p_remove): the body of howdah.receive and howdah.receive_locked.
--
-- Returns  setof howdah.message.
-- Raises   HD001, HD005, HD009, HD010 as howdah.receive.
-- Role     internal
--
-- The row is built field by field: simple expressions, where a function call for each message would cost 20 times more.
create or replace function howdah._receive(p_queue text, p_max_messages integer, p_remove boolean) returns setof howdah.message
language plpgsql volatile
as $$
declare
    v_destination howdah.destinations := howdah._destination(p_queue, 'receive');
    v_limit integer := case when v_destination.exception_mode <> 'none' and v_destination.max_failed_deliveries > 0
        then v_destination.max_failed_deliveries else 2147483647 end;
    v_left integer := p_max_messages;
    v_disposed boolean;
    v_now timestamptz;
    v_claim record;
    v_message howdah.msgs;
    v_out howdah.message;
    v_nonpersistent boolean;
    v_consumed bigint[];
    v_consumed_nonpersistent bigint[];
begin
    if p_max_messages is null or p_max_messages not between 1 and 10000 then
        raise exception using errcode = 'HD005',
            message = format('max_messages must be 1 to 10000, not %s', coalesce(p_max_messages::text, 'NULL'));
    end if;
    if v_destination.receiving_paused then
        raise exception using errcode = 'HD009', message = format('receiving from queue %s is paused', quote_literal(p_queue)),
            hint = 'An administrator resumes it with howdah.resume(queue).';
    end if;
    v_out.queue := p_queue;
    loop
        v_now := howdah.now();
        v_disposed := false;
        for v_claim in select * from howdah._claim(v_destination, v_left, v_now, p_remove) loop
            v_message := v_claim.message;
            v_nonpersistent := v_claim.place in ('msgs_nonpersistent', 'parked_nonpersistent');
            if v_message.expires_at <= v_now or v_claim.failures >= v_limit then
                perform howdah._dispose(v_destination, v_message, v_claim.place, v_now, not p_remove);
                v_disposed := true;
                continue;
            end if;
            v_left := v_left - 1;
            if v_nonpersistent then
                v_consumed_nonpersistent := v_consumed_nonpersistent || v_message.message_id;
            else
                v_consumed := v_consumed || v_message.message_id;
            end if;
            v_out.message_id := v_message.message_id;
            if v_message.is_text then
                v_out.body := convert_from(v_message.body, 'UTF8');
                v_out.bytes := null;
            else
                v_out.body := null;
                v_out.bytes := v_message.body;
            end if;
            v_out.content_type := v_message.content_type;
            v_out.headers := v_message.headers;
            v_out.priority := 9 - v_message.rank;
            v_out.correlation_id := v_message.correlation_id;
            v_out.reply_to := v_message.reply_to;
            v_out.message_type := v_message.message_type;
            v_out.conversation_id := v_message.conversation_id;
            v_out.delivery_mode := case when v_nonpersistent then 'non-persistent' else 'persistent' end;
            v_out.sent_at := v_message.sent_at;
            v_out.expires_at := v_message.expires_at;
            v_out.delivery_count := v_claim.failures + 1;
            v_out.redelivered := v_claim.failures > 0;
            v_out."position" := v_message.seq;
            v_out.stage := v_message.stage;
            if v_message.origin_id is not null then
                select d.name into v_out.origin_queue from howdah.destinations d where d.id = v_message.origin_id;
            else
                v_out.origin_queue := null;
            end if;
            v_out.dead_reason := v_message.dead_reason;
            v_out.dead_at := v_message.dead_at;
            return next v_out;
        end loop;
        exit when v_left = 0 or not v_disposed;
    end loop;
    if p_remove then
        perform howdah._journal(v_destination, 'consumed', v_consumed, false);
        perform howdah._journal(v_destination, 'consumed', v_consumed_nonpersistent, true);
    end if;
end
$$;

-- howdah._dispose(p_destination, p_message, p_place, p_now, p_delete): end a claimed message that must not be delivered.
--
-- Role     internal
create or replace function howdah._dispose(
    p_destination howdah.destinations, p_message howdah.msgs, p_place text, p_now timestamptz, p_delete boolean
) returns void
language plpgsql volatile
as $$
declare
    v_nonpersistent boolean := p_place in ('msgs_nonpersistent', 'parked_nonpersistent');
begin
    if p_delete then
        perform howdah._remove(p_message, p_place);
    end if;
    if p_message.expires_at <= p_now then
        perform howdah._journal(p_destination, 'expired', array[p_message.message_id], v_nonpersistent);
    else
        perform howdah._bury(p_destination, p_message, v_nonpersistent, 'failed deliveries reached the limit');
    end if;
end
$$;
