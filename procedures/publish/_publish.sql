-- howdah._publish(p_topic, p_bodies, …): store messages of a topic, all or nothing, and send them on to its bridges.
--
-- Returns  the message ids (bigint[]) in the order of p_bodies.
-- Raises   HD005 a delay was asked for; HD017 a conversation was ended; HD018 a subscription is too far behind; HD025 a
--          restored database.
-- Role     internal
--
-- The caller has checked rights and arguments. Arrays are NULL or as long as p_bodies. p_seqs are positions that the
-- caller has drawn. p_user is the sender with whom a bridge's queue stamps the message; NULL means the caller.
-- p_forward: false if the bridges' queues have their copies from elsewhere.
create or replace function howdah._publish(
    p_topic howdah.destinations, p_bodies bytea[], p_is_text boolean, p_content_type text, p_headers jsonb[],
    p_priorities integer[], p_correlation_ids text[], p_message_types text[], p_conversation_ids uuid[],
    p_reply_to text, p_time_to_live interval, p_delay interval, p_level smallint, p_notify boolean,
    p_seqs bigint[] default null, p_user text default null, p_forward boolean default true
) returns bigint[]
language plpgsql volatile
as $$
declare
    v_topic howdah.topics;
    v_seqs bigint[] := coalesce(p_seqs, array(select nextval(p_topic.positions)
        from generate_series(1, cardinality(p_bodies))));
    v_ids bigint[] := array(select s.seq * 1000000 + p_topic.id from unnest(v_seqs) s(seq));
    v_now timestamptz := howdah.now();
    v_expires_at timestamptz := v_now + coalesce(howdah._span(p_time_to_live),
        p_topic.default_time_to_live_ms * interval '1 millisecond');
    v_nonpersistent boolean := p_level <= 2;
    v_generation bigint;
begin
    select t.* into v_topic from howdah.topics t where t.destination_id = p_topic.id;
    perform howdah._check_cluster();
    if p_delay > interval '0' then
        raise exception using errcode = 'HD005', message = 'a message to a topic cannot be delayed',
            hint = 'Send it later, or bridge the topic to a queue and delay there.';
    elsif v_topic.refused_for is not null then
        raise exception using errcode = 'HD018', message = format('topic %s is full', quote_literal(p_topic.name)),
            hint = format(
                'Subscription %s is further behind than backlog_limit or backlog_age_ms allow; let it catch up, or '
                'drop it.', quote_literal(v_topic.refused_for));
    end if;
    while v_topic.stored and cardinality(p_bodies) > 0 loop
        v_generation := howdah._generation();
        perform howdah._store_published(v_generation % 3 + case when v_nonpersistent then 3 else 0 end, p_topic, v_seqs,
            v_now, v_expires_at, p_is_text, p_content_type, p_bodies, p_headers, p_priorities, p_correlation_ids,
            p_reply_to, p_message_types,
            p_conversation_ids, howdah._stored_level(p_level));
        exit when v_generation = howdah._generation();
        perform howdah._unpublish(v_generation, p_topic.id, v_seqs);
    end loop;
    if p_notify and cardinality(p_bodies) > 0 and pg_sequence_last_value(p_topic.waiting) is not null then
        perform howdah._wake(p_topic.id, p_topic.waiting, 'topic:');
    end if;
    if p_topic.journal_level = 'full' then
        perform howdah._journal_sent(p_topic, v_ids, v_nonpersistent, v_now, v_expires_at, null, null, p_priorities,
            false,
            howdah._digests(p_bodies, p_headers, p_is_text, p_content_type, p_correlation_ids, p_reply_to,
                p_message_types, p_conversation_ids), howdah._stored_level(p_level));
    end if;
    if p_topic.discard_with_sender and v_topic.stored and p_user is null then
        perform howdah._note_sender(p_topic, v_ids, p_priorities, p_level);
    end if;
    if v_topic.bridged and p_forward then
        perform howdah._forward_to_bridges(p_topic, p_bodies, p_is_text, p_content_type, p_headers, p_priorities,
            p_correlation_ids, p_message_types, p_conversation_ids, p_reply_to, p_time_to_live, p_level,
            p_notify, coalesce(p_user, howdah._caller()),
            p_user is not null or p_topic.discard_with_sender is null);
    end if;
    return v_ids;
end
$$;
