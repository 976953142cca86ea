-- howdah.replay_edited(queue, message_id, body, bytes, headers, content_type, target, discard, reason): send a
-- corrected copy of a message to where it came from, or to another queue.
--
-- Returns  the id of the copy (bigint), whose header howdah_edited_from is the id of the original.
-- Raises   HD001 no such queue, or the message has no queue to go back to; HD005 both body and bytes are given, headers
--          are wrong, or target is a topic; HD006 never, because the priority is the original's; HD007 body too large;
--          HD008 sending to the target is paused; HD010 not allowed; HD013 the message is not in the queue, or is in
--          somebody's hands; HD040 the engine is paused, quiesced or stopped; HD045 the master of changes is away;
--          HD050 a new body does not keep to the target's contract.
-- Role     howdah_admin
--
-- Arguments that are not given keep the original's values: body, headers (headers replaces them all), content type,
-- priority, correlation_id, reply_to, message_type, conversation and delivery mode.
--
-- The copy is a new message with a new id and without failures. It lives as long as the target's messages do by
-- default. The original stays where it is, unless discard is true.
create or replace function howdah.replay_edited(
    queue text, message_id bigint, body text default null, bytes bytea default null, headers jsonb default null,
    content_type text default null, target text default null, discard boolean default false, reason text default null
) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp set enable_seqscan = off
    set jit = off
as $$
declare
    v_source howdah.destinations := howdah._queue(queue, 'admin');
    v_target howdah.destinations;
    v_found record;
    v_message howdah.msgs;
begin
    if body is not null and bytes is not null then
        raise exception using errcode = 'HD005', message = 'body and bytes do not go together',
            hint = 'Give one of them.';
    end if;
    if target is not null then
        v_target := howdah._queue(target, 'admin');
    end if;
    select * into v_found from howdah._find(v_source.id, replay_edited.message_id, null, null);
    if v_found.free is not true then
        raise exception using errcode = 'HD013',
            message = format('message %s is not in queue %s', coalesce(replay_edited.message_id::text, 'NULL'),
                quote_literal(queue)),
            hint = 'See howdah.poison_message(message_id); a message in somebody''s hands cannot be edited.';
    end if;
    v_message := v_found.message;
    v_message.body := coalesce(v_message.body, howdah._body(v_message.message_id));
    if target is null then
        select d.* into v_target from howdah.destinations d where d.id = v_message.origin_id and d.dropped_at is null;
        if v_target.id is null then
            raise exception using errcode = 'HD001',
                message = format('message %s has no queue to go back to', v_message.message_id),
                hint = 'Name one: target => ….';
        end if;
    end if;
    if coalesce(discard, false) then
        perform howdah._remove(v_message, v_found.place);
        perform howdah._journal(v_source, 'discarded', array[v_message.message_id], v_found.nonpersistent, null,
            'replaced by an edited copy');
        perform howdah._record_act('discarded', v_source.id, array[v_message.message_id], null,
            'replaced by an edited copy');
    end if;
    if body is not null or bytes is not null then
        v_message.is_text := body is not null;
        v_message.body := coalesce(bytes, convert_to(body, 'UTF8'));
    end if;
    v_message.content_type := coalesce(replay_edited.content_type, v_message.content_type);
    v_message.headers := coalesce(replay_edited.headers, v_message.headers, '{}');
    perform howdah._check_message(v_target, octet_length(v_message.body), v_message.headers, 9 - v_message.rank,
        v_message.content_type, null, null);
    if v_target.contract is not null and (body is not null or bytes is not null) then
        perform howdah._check_contract(v_target, array[v_message.body], v_message.is_text);
    end if;
    v_message.headers := v_message.headers || jsonb_build_object('howdah_edited_from', v_message.message_id);
    perform pg_current_xact_id();  -- before a position is drawn: howdah._set_mark
    v_message.seq := nextval(v_target.positions);
    v_message.message_id := v_message.seq * 1000000 + v_target.id;
    v_message.destination_id := v_target.id;
    v_message.stage := 0;
    v_message.sent_at := howdah.now();
    v_message.expires_at := v_message.sent_at + v_target.default_time_to_live_ms * interval '1 millisecond';
    v_message.origin_id := null;
    v_message.dead_at := null;
    v_message.dead_reason := null;
    if not v_found.nonpersistent then
        v_message := howdah._detach_body(v_message);
    end if;
    perform howdah._put(v_message, v_found.nonpersistent, true);
    if v_target.journal_level = 'full' then
        perform howdah._journal_one_sent(v_target, v_message,
            coalesce(v_message.body, howdah._body(v_message.message_id)), v_found.nonpersistent, false);
    end if;
    perform howdah._record_act('edited', v_source.id, array[replay_edited.message_id, v_message.message_id],
        v_target.id, reason);
    return v_message.message_id;
end
$$;
