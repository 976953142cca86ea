-- howdah._send_batch(p_destination, p_bodies, …): store many messages in one destination; this is howdah.send_batch for
-- every type of body.
--
-- Returns  the message ids (bigint[]) in the order of p_bodies.
-- Raises   HD005, HD006, HD007, HD008, HD017, HD018, HD025, HD027, HD039 as howdah.send_batch.
-- Role     internal
--
-- The caller has checked the sender's rights. p_seqs are positions that the caller has drawn. p_caught: as in
-- howdah._send_to. p_forward: as in howdah._publish.
create or replace function howdah._send_batch(
    p_destination howdah.destinations, p_bodies bytea[], p_is_text boolean, p_content_type text, p_headers jsonb[],
    p_priorities integer[], p_correlation_ids text[], p_message_types text[], p_conversation_ids uuid[],
    p_reply_to text, p_time_to_live interval, p_delay interval, p_reliability text, p_notify boolean,
    p_deduplication_keys text[] default null, p_seqs bigint[] default null, p_caught boolean default false,
    p_forward boolean default true
) returns bigint[]
language plpgsql volatile
as $$
declare
    v_count integer := cardinality(p_bodies);
    v_bytes bigint;
    v_longest integer;
    v_ids bigint[];
    v_keys text[];
    v_seqs bigint[];
    v_now timestamptz;
    v_expires_at timestamptz;
    v_digests bytea[];
    v_level smallint := howdah._level_for(p_destination, p_reliability);
    v_nonpersistent boolean := v_level <= 2;
begin
    perform howdah._check_batch(p_destination, p_bodies, p_headers, p_priorities,
        array[cardinality(p_headers), cardinality(p_priorities), cardinality(p_correlation_ids),
            cardinality(p_message_types), cardinality(p_conversation_ids), cardinality(p_deduplication_keys)],
        p_is_text, p_content_type, p_time_to_live, p_delay);
    if v_level = 0 and not p_caught then
        return howdah._try_to_send_batch(p_destination, p_bodies, p_is_text, p_content_type, p_headers, p_priorities,
            p_correlation_ids, p_message_types, p_conversation_ids, p_reply_to, p_time_to_live, p_delay, p_reliability,
            p_notify, p_deduplication_keys, p_forward);
    end if;
    if p_deduplication_keys is not null then
        return howdah._send_new(p_destination, p_bodies, p_is_text, p_content_type, p_headers, p_priorities,
            p_correlation_ids, p_message_types, p_conversation_ids, p_reply_to, p_time_to_live, p_delay,
            p_reliability, p_notify, p_deduplication_keys);
    end if;
    if v_count > 0 and p_destination.last_value_key is not null and p_headers is not null then
        v_keys := array(select h.headers ->> p_destination.last_value_key
            from unnest(p_headers) with ordinality h(headers, n) order by h.n);
        if exists (select from unnest(v_keys) k(key) where k.key is not null group by k.key having count(*) > 1) then
            perform howdah._lock_values(p_destination, v_keys);
            for i in 1..v_count loop  -- of one key, each replaces the one before
                v_ids := v_ids || howdah._send_batch(p_destination, p_bodies[i:i], p_is_text, p_content_type,
                    p_headers[i:i], p_priorities[i:i], p_correlation_ids[i:i], p_message_types[i:i],
                    p_conversation_ids[i:i], p_reply_to, p_time_to_live, p_delay, p_reliability, p_notify, null,
                    p_seqs[i:i], p_caught);
            end loop;
            return v_ids;
        end if;
        perform pg_current_xact_id();
        p_seqs := coalesce(p_seqs, array(select nextval(p_destination.positions) from generate_series(1, v_count)));
        perform howdah._replace_values(p_destination, v_keys,
            array(select s.seq * 1000000 + p_destination.id from unnest(p_seqs) with ordinality s(seq, n) order by n));
    end if;
    if v_count > 0 and current_setting('howdah.commit_by_reliability', true) <> '' then
        perform howdah._commit_needs(v_level);
    end if;
    select sum(octet_length(b.body)), max(octet_length(b.body)) into v_bytes, v_longest from unnest(p_bodies) b(body);
    perform howdah._check_room(p_destination, v_count, v_bytes, p_conversation_ids,
        9 - (select min(coalesce(b.priority, p_destination.default_priority))
            from unnest(p_bodies, p_priorities) b(body, priority)), v_level);
    if p_destination.kind = 'topic' then
        return howdah._publish(p_destination, p_bodies, p_is_text, p_content_type, p_headers, p_priorities,
            p_correlation_ids, p_message_types, p_conversation_ids, p_reply_to, p_time_to_live, p_delay,
            v_level, p_notify, p_seqs, p_forward => p_forward);
    end if;

    v_now := howdah.now();
    v_expires_at := v_now + coalesce(howdah._span(p_time_to_live),
        p_destination.default_time_to_live_ms * interval '1 millisecond');
    perform pg_current_xact_id();  -- before a position is drawn: howdah._set_mark
    v_seqs := coalesce(p_seqs, array(select nextval(p_destination.positions) from generate_series(1, v_count)));
    v_ids := array(select s.seq * 1000000 + p_destination.id from unnest(v_seqs) s(seq));
    if p_priorities is not null or v_nonpersistent or p_delay > interval '0' then
        perform howdah._open_lane(p_destination.id, 9 - b.priority,
            case when p_delay > interval '0' then 0 when v_nonpersistent then 1 else 2 end)
        from (select distinct coalesce(u.priority, p_destination.default_priority) as priority
              from unnest(p_bodies, p_priorities) u(body, priority)) b;
    end if;
    if p_destination.journal_level = 'full' then
        v_digests := howdah._digests(p_bodies, p_headers, p_is_text, p_content_type, p_correlation_ids, p_reply_to,
            p_message_types, p_conversation_ids);
    end if;
    if howdah._is_large(v_longest) and not v_nonpersistent then
        p_bodies := howdah._keep_large(v_ids, p_bodies);
    end if;
    with message as (
        select b.seq, b.seq * 1000000 + p_destination.id as message_id, v_now as sent_at, v_expires_at as expires_at,
            null::timestamptz as dead_at, p_destination.id as destination_id, null::integer as origin_id,
            (9 - coalesce(b.priority, p_destination.default_priority))::smallint as rank, 0::smallint as stage,
            p_is_text as is_text, p_content_type as content_type, b.body, b.headers,
            b.correlation_id, p_reply_to as reply_to, b.message_type, b.conversation_id, null::text as dead_reason,
            howdah._stored_level(v_level) as reliability
        from unnest(v_seqs, p_bodies, p_headers, p_priorities, p_correlation_ids, p_message_types, p_conversation_ids)
            b(seq, body, headers, priority, correlation_id, message_type, conversation_id)
    ), parked as (
        insert into howdah.parked
        select m.*, v_now + howdah._span(p_delay), 'delay',
        case when v_nonpersistent then pg_postmaster_start_time() end
        from message m where p_delay > interval '0'
    ), nonpersistent as (
        insert into howdah.msgs_nonpersistent
        select m.*, pg_postmaster_start_time() from message m
        where v_nonpersistent and (p_delay > interval '0') is not true
    )
    insert into howdah.msgs
    select m.* from message m where not v_nonpersistent and (p_delay > interval '0') is not true;
    if p_notify and v_count > 0 and (p_delay > interval '0') is not true then
        perform howdah._wake(p_destination.id, p_destination.waiting);
    end if;
    if p_destination.journal_level = 'full' then
        perform howdah._journal_sent(p_destination, v_ids, v_nonpersistent, v_now, v_expires_at, p_headers,
            p_conversation_ids, p_priorities, p_delay > interval '0', v_digests, howdah._stored_level(v_level));
    end if;
    if p_destination.discard_with_sender then
        perform howdah._note_sender(p_destination, v_ids, p_priorities, v_level);
    end if;
    return v_ids;
end
$$;
