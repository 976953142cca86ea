-- howdah._publish_usual(p_topic, …): store one usual, persistent message of a topic.
--
-- Returns  the message's id (bigint); NULL if the topic, the caller or the message is not usual, and then nothing is
--          stored.
-- Role     internal
--
-- One row is stored, whatever the number of subscribers. The ring may turn between reading its state and inserting. The
-- row is then taken back and stored in the table that is open now.
--
-- It looks the topic up in a condition. With a join, PostgreSQL would prepare each column of destinations anew for each
-- message.
create or replace function howdah._publish_usual(
    p_topic text, p_body bytea, p_is_text boolean, p_content_type text, p_headers jsonb, p_priority integer,
    p_correlation_id text, p_reply_to text, p_message_type text, p_conversation_id uuid, p_time_to_live interval,
    p_notify boolean
) returns bigint
language plpgsql volatile
as $$
declare
    v_now timestamptz := howdah.now();
    v_life interval;
    v_generation bigint;
    v_seq bigint;
    v_topic integer;
begin
    if (p_content_type <> '') is not true or p_conversation_id is not null
       or pg_sequence_last_value('howdah.topic_checked'::regclass) is distinct from howdah._boot_ms() then
        return null;
    end if;
    -- In an IF of their own: a usual call prepares none of these functions.
    if p_headers is not null or p_priority is not null or p_time_to_live is not null then
        v_life := case when p_time_to_live > interval '0' and p_time_to_live <= interval '100 years'
            then howdah._span(p_time_to_live) end;
        if (jsonb_typeof(p_headers) = 'object' and p_priority between 0 and 9) is false
           or p_time_to_live is not null and (v_life > interval '0') is not true then
            return null;
        end if;
    end if;
    loop
        v_generation := coalesce(pg_sequence_last_value('howdah.topic_generation'::regclass), 0);
        case v_generation % 3
            -- for N in 0, 1, 2:
            when N then
                insert into howdah.topic_msgs_N (seq, sent_at, expires_at, destination_id, rank, is_text, content_type,
                    body, headers, correlation_id, reply_to, message_type, client_id)
                select nextval(d.positions), v_now,
                    v_now + coalesce(v_life, d.default_time_to_live), d.id,
                    9 - coalesce(p_priority, d.default_priority), p_is_text, p_content_type, p_body, p_headers,
                    p_correlation_id, p_reply_to, p_message_type, nullif(current_setting('howdah.client_id', true), '')
                from howdah.destinations d
                where d.name = p_topic and d.dropped_at is null and d.usual_publish
                  and octet_length(p_body) <= d.max_message_bytes
                  and (select t.stored and not t.bridged and t.refused_for is null from howdah.topics t
                       where t.destination_id = d.id)
                  and (howdah._has_role(d.senders[1]) or howdah._has_right(d.id, 'send', d.senders))
                  and (pg_sequence_last_value(d.waiting) is null or p_notify is not true
                      or howdah._wake(d.id, d.waiting, 'topic:'))
                returning seq, destination_id into v_seq, v_topic;
            -- end for
        end case;
        exit when v_seq is null or v_generation = coalesce(pg_sequence_last_value('howdah.topic_generation'::regclass),
            0);
        perform howdah._unpublish(v_generation, v_topic, array[v_seq]);
    end loop;
    if v_seq is null then
        return null;
    elsif current_setting('howdah.commit_by_reliability', true) <> ''
        or p_topic is distinct from current_setting('howdah.topic', true) then
        perform howdah._commit_needs(4) where current_setting('howdah.commit_by_reliability', true) <> '';
        perform set_config('howdah.topic', p_topic, false);
    end if;
    return v_seq * 1000000 + v_topic;
end
$$;
