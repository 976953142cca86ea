-- howdah._send_new(p_destination, p_bodies, …): store those messages of a batch that were not sent already.
--
-- Returns  the message ids (bigint[]) in the order of p_bodies; for a duplicate, the id of the first message with its
--          key.
-- Raises   HD005, HD006, HD007, HD008, HD017, HD018, HD025, HD027, HD039 as howdah.send_batch.
-- Role     internal
create or replace function howdah._send_new(
    p_destination howdah.destinations, p_bodies bytea[], p_is_text boolean, p_content_type text, p_headers jsonb[],
    p_priorities integer[], p_correlation_ids text[], p_message_types text[], p_conversation_ids uuid[],
    p_reply_to text, p_time_to_live interval, p_delay interval, p_reliability text, p_notify boolean, p_keys text[]
) returns bigint[]
language plpgsql volatile
as $$
declare
    v_xid xid8 := pg_current_xact_id();  -- before a position is drawn: howdah._set_mark
    v_seqs bigint[] := array(select nextval(p_destination.positions) from generate_series(1, cardinality(p_bodies)));
    v_ids bigint[] := array(select s.seq * 1000000 + p_destination.id from unnest(v_seqs) with ordinality s(seq, n)
        order by s.n);
    v_first bigint[] := howdah._deduplicate(p_destination, p_keys, v_ids);
    v_new record;
begin
    select array_agg(b.seq order by b.n) as seqs, array_agg(b.body order by b.n) as bodies,
        case when p_headers is not null then array_agg(b.headers order by b.n) end as headers,
        case when p_priorities is not null then array_agg(b.priority order by b.n) end as priorities,
        case when p_correlation_ids is not null then array_agg(b.correlation_id order by b.n) end as correlation_ids,
        case when p_message_types is not null then array_agg(b.message_type order by b.n) end as message_types,
        case when p_conversation_ids is not null then array_agg(b.conversation_id order by b.n) end as conversation_ids
    into v_new
    from unnest(v_seqs, v_ids, v_first, p_bodies, p_headers, p_priorities, p_correlation_ids, p_message_types,
        p_conversation_ids)
        with ordinality b(seq, id, first, body, headers, priority, correlation_id, message_type, conversation_id, n)
    where b.id = b.first;
    if v_new.seqs is not null then
        perform howdah._send_batch(p_destination, v_new.bodies, p_is_text, p_content_type, v_new.headers,
            v_new.priorities, v_new.correlation_ids, v_new.message_types, v_new.conversation_ids, p_reply_to,
            p_time_to_live, p_delay, p_reliability, p_notify, null, v_new.seqs, true);
    end if;
    return v_first;
end
$$;
