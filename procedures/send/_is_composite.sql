-- howdah._is_composite(p_name): whether a name says several destinations, or of which kind they are: A,B,topic://C.
--
-- Returns  boolean.
-- Role     internal
create or replace function howdah._is_composite(p_name text) returns boolean
language sql immutable
as $$ select strpos(p_name, ',') > 0 or strpos(p_name, '://') > 0 $$;

-- howdah._members(p_names): the destinations that a composite name says, each once, all of which the caller may send to.
--
-- Returns  howdah.destinations[], in the order of the name.
-- Raises   HD001 there is none of a name, or it is of another kind than the name says; HD010 the caller may not send there.
-- Role     internal
create or replace function howdah._members(p_names text) returns howdah.destinations[]
language plpgsql volatile
as $$
declare
    v_part text;
    v_kind text;
    v_member howdah.destinations;
    v_members howdah.destinations[] := '{}';
begin
    foreach v_part in array string_to_array(p_names, ',') loop
        v_kind := substring(v_part from '^[[:space:]]*(?:temp-)?(queue|topic)://');
        v_part := btrim(regexp_replace(v_part, '^[[:space:]]*(?:temp-)?(queue|topic)://', ''));
        v_member := howdah._destination(v_part, 'send');
        if v_member.kind <> v_kind then
            raise exception using errcode = 'HD001', message = format('%s is a %s, not a %s', quote_literal(v_part), v_member.kind, v_kind),
                hint = 'Names of queues and topics with commas between: A,B,topic://C,queue://D.';
        end if;
        if v_member.id <> all (array(select m.id from unnest(v_members) m)) then
            v_members := v_members || v_member;
        end if;
    end loop;
    return v_members;
end
$$;

-- howdah._send_each(p_queue, p_body, …): store one message in each destination of a composite name.
--
-- Returns  the number (bigint) of the first one's.
-- Raises   HD001, HD005, HD006, HD007, HD008, HD010, HD017, HD018, HD025, HD027 as howdah.send, and then nothing is sent to any.
-- Role     internal
create or replace function howdah._send_each(
    p_queue text, p_body bytea, p_is_text boolean, p_content_type text, p_headers jsonb, p_priority integer,
    p_correlation_id text, p_reply_to text, p_message_type text, p_conversation_id uuid, p_time_to_live interval,
    p_delay interval, p_delivery_mode text, p_notify boolean, p_deduplication_key text
) returns bigint
language plpgsql volatile
as $$
declare
    v_member howdah.destinations;
    v_id bigint;
    v_first bigint;
begin
    foreach v_member in array howdah._members(p_queue) loop
        v_id := howdah._send(v_member.name, p_body, p_is_text, p_content_type, p_headers, p_priority, p_correlation_id, p_reply_to,
            p_message_type, p_conversation_id, p_time_to_live, p_delay, p_delivery_mode, p_notify, p_deduplication_key);
        v_first := coalesce(v_first, v_id);
    end loop;
    return v_first;
end
$$;

-- howdah._send_batch_to(p_queue, p_bodies, …): store many messages in a destination, or in each of a composite name.
--
-- Returns  the numbers (bigint[]) in the order of p_bodies, of a composite name the first destination's.
-- Raises   HD001, HD005, HD006, HD007, HD008, HD010, HD017, HD018, HD025, HD027 as howdah.send_batch, and then nothing is sent to any.
-- Role     internal
create or replace function howdah._send_batch_to(
    p_queue text, p_bodies bytea[], p_is_text boolean, p_content_type text, p_headers jsonb[], p_priorities integer[],
    p_correlation_ids text[], p_message_types text[], p_conversation_ids uuid[], p_reply_to text,
    p_time_to_live interval, p_delay interval, p_delivery_mode text, p_notify boolean,
    p_deduplication_keys text[] default null
) returns bigint[]
language plpgsql volatile
as $$
declare
    v_member howdah.destinations;
    v_ids bigint[];
    v_first bigint[];
begin
    foreach v_member in array case when howdah._is_composite(p_queue) then howdah._members(p_queue)
                                   else array[howdah._destination(p_queue, 'send')] end loop
        v_ids := howdah._send_batch(v_member, p_bodies, p_is_text, p_content_type,
            case when v_member.stamp_user then howdah._stamped_all(p_headers, cardinality(p_bodies), howdah._caller()) else p_headers end, p_priorities, p_correlation_ids,
            p_message_types, p_conversation_ids, p_reply_to, p_time_to_live, p_delay, p_delivery_mode, p_notify, p_deduplication_keys);
        v_first := coalesce(v_first, v_ids);
    end loop;
    return v_first;
end
$$;
