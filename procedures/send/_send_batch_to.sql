-- howdah._send_batch_to(p_queue, p_bodies, …): store many messages in a destination, or in each destination of a
-- composite name.
--
-- Returns  the message ids (bigint[]) in the order of p_bodies; for a composite name, those in the first destination.
-- Raises   HD001, HD005, HD006, HD007, HD008, HD010, HD017, HD018, HD025, HD027, HD039 as howdah.send_batch, and then
--          no destination gets any.
-- Role     internal
--
-- p_sender: false for messages that have no sender to go with here. The option discard_with_sender is NULL for them,
-- which howdah._publish tells from false. p_forward: as in howdah._publish.
create or replace function howdah._send_batch_to(
    p_queue text, p_bodies bytea[], p_is_text boolean, p_content_type text, p_headers jsonb[], p_priorities integer[],
    p_correlation_ids text[], p_message_types text[], p_conversation_ids uuid[], p_reply_to text,
    p_time_to_live interval, p_delay interval, p_reliability text, p_notify boolean,
    p_deduplication_keys text[] default null, p_sender boolean default true, p_forward boolean default true
) returns bigint[]
language plpgsql volatile
as $$
declare
    v_member howdah.destinations;
    v_ids bigint[];
    v_first bigint[];
    v_recorded boolean;
begin
    if p_headers is null and p_priorities is null and p_correlation_ids is null and p_message_types is null
       and p_conversation_ids is null and p_time_to_live is null and p_delay is null and p_reliability is null
       and p_deduplication_keys is null and p_sender then
        -- Asked first, since an attempt in vain costs a small batch 15 %.
        select not c.usual_send into v_recorded from howdah.destinations c
        where c.name = p_queue and c.dropped_at is null and c.usual_batch and c.assured;
        if found then
            v_ids := howdah._send_batch_usual(p_queue, p_bodies, p_is_text, p_content_type, p_reply_to, p_notify,
                v_recorded);
            if v_ids is not null then
                return v_ids;
            end if;
        end if;
    end if;
    if exists (select from unnest(array[array_dims(p_bodies), array_dims(p_headers), array_dims(p_priorities),
            array_dims(p_correlation_ids), array_dims(p_message_types), array_dims(p_conversation_ids),
            array_dims(p_deduplication_keys)]) d(dims) where d.dims not similar to '[[]1:[0-9]+]') then
        raise exception using errcode = 'HD005', message = 'an array has several dimensions, or does not begin at 1',
            hint = 'Pass arrays as array[…] or array(select …) makes them.';
    end if;
    foreach v_member in array case when howdah._is_composite(p_queue) then howdah._composite_members(p_queue)
                                   else array[howdah._destination_or_new(p_queue, 'send')] end loop
        if not p_sender then
            v_member.discard_with_sender := null;
        end if;
        v_ids := howdah._send_batch(v_member, p_bodies, p_is_text, p_content_type,
            case when v_member.stamp_user then howdah._stamped_all(p_headers, cardinality(p_bodies), howdah._caller())
                else p_headers end, p_priorities, p_correlation_ids,
            p_message_types, p_conversation_ids, p_reply_to, p_time_to_live, p_delay, p_reliability, p_notify,
            p_deduplication_keys, p_forward => p_forward);
        v_first := coalesce(v_first, v_ids);
    end loop;
    return v_first;
end
$$;
