-- howdah._publish_usual(p_topic, …): store one persistent message of a topic, the usual way.
--
-- Returns  its number; NULL: topic, caller or message are not the usual ones, and nothing was done.
-- Role     internal
--
-- What is stored is one row, whatever the number of subscribers; nothing where nobody subscribed. The tables may be turned between
-- the look at the ring and the insert: then the row goes where it belongs now.
create or replace function howdah._publish_usual(
    p_topic text, p_body bytea, p_is_text boolean, p_content_type text, p_headers jsonb, p_priority integer, p_correlation_id text,
    p_reply_to text, p_message_type text, p_conversation_id uuid, p_time_to_live interval, p_notify boolean
) returns bigint
language plpgsql volatile set plan_cache_mode = force_generic_plan
as $$
declare
    v_topic record;
    v_now timestamptz := howdah.now();
    v_generation bigint;
begin
    select d.id, nextval(d.positions) as seq, 9 - coalesce(p_priority, d.default_priority) as rank, t.stored, d.waiting,
        v_now + coalesce(p_time_to_live, d.default_time_to_live_ms * interval '1 millisecond') as expires_at
    into v_topic
    from howdah.destinations d join howdah.topics t on t.destination_id = d.id
    where d.name = p_topic and d.dropped_at is null and not d.sending_paused and octet_length(p_body) <= d.max_message_bytes
      and d.journal_level <> 'full' and d.persistent and not t.bridged and t.refused_for is null and p_content_type <> ''
      and (jsonb_typeof(p_headers) = 'object') is not false and (p_priority between 0 and 9) is not false
      and pg_sequence_last_value('howdah.topic_checked'::regclass) = howdah._boot_ms()
      and p_conversation_id is null and (p_time_to_live > interval '0') is not false
      and pg_has_role(howdah._caller()::name, d.senders[1]::name, 'MEMBER');
    if not found then
        return null;
    elsif v_topic.stored then
        loop
            v_generation := coalesce(pg_sequence_last_value('howdah.topic_generation'::regclass), 0);
            case v_generation % 3
                when 0 then
                    insert into howdah.topic_msgs_0 (seq, sent_at, expires_at, destination_id, rank, is_text, content_type, body, headers,
                        correlation_id, reply_to, message_type, client_id)
                    values (v_topic.seq, v_now, v_topic.expires_at, v_topic.id, v_topic.rank, p_is_text, p_content_type, p_body, p_headers,
                        p_correlation_id, p_reply_to, p_message_type, nullif(current_setting('howdah.client_id', true), ''));
                when 1 then
                    insert into howdah.topic_msgs_1 (seq, sent_at, expires_at, destination_id, rank, is_text, content_type, body, headers,
                        correlation_id, reply_to, message_type, client_id)
                    values (v_topic.seq, v_now, v_topic.expires_at, v_topic.id, v_topic.rank, p_is_text, p_content_type, p_body, p_headers,
                        p_correlation_id, p_reply_to, p_message_type, nullif(current_setting('howdah.client_id', true), ''));
                when 2 then
                    insert into howdah.topic_msgs_2 (seq, sent_at, expires_at, destination_id, rank, is_text, content_type, body, headers,
                        correlation_id, reply_to, message_type, client_id)
                    values (v_topic.seq, v_now, v_topic.expires_at, v_topic.id, v_topic.rank, p_is_text, p_content_type, p_body, p_headers,
                        p_correlation_id, p_reply_to, p_message_type, nullif(current_setting('howdah.client_id', true), ''));
            end case;
            exit when v_generation = coalesce(pg_sequence_last_value('howdah.topic_generation'::regclass), 0);
            perform howdah._unpublish(v_generation, v_topic.id, array[v_topic.seq]);
        end loop;
    end if;
    if p_notify and pg_sequence_last_value(v_topic.waiting) is not null then
        perform howdah._wake(v_topic.id, v_topic.waiting, 'topic:');
    end if;
    return v_topic.seq * 1000000 + v_topic.id;
end
$$;

-- howdah._unpublish(p_generation, p_topic_id, p_seqs): take back rows of the caller's transaction that went into a table just turned away from.
--
-- Role     internal
create or replace function howdah._unpublish(p_generation bigint, p_topic_id integer, p_seqs bigint[]) returns void
language plpgsql volatile
as $$
begin
    if p_generation % 3 = 0 then
        delete from howdah.topic_msgs_0 t where t.destination_id = p_topic_id and t.xid = pg_current_xact_id() and t.seq = any (p_seqs);
        delete from howdah.topic_nonpersistent_0 t
        where t.destination_id = p_topic_id and t.xid = pg_current_xact_id() and t.seq = any (p_seqs);
    end if;
    if p_generation % 3 = 1 then
        delete from howdah.topic_msgs_1 t where t.destination_id = p_topic_id and t.xid = pg_current_xact_id() and t.seq = any (p_seqs);
        delete from howdah.topic_nonpersistent_1 t
        where t.destination_id = p_topic_id and t.xid = pg_current_xact_id() and t.seq = any (p_seqs);
    end if;
    if p_generation % 3 = 2 then
        delete from howdah.topic_msgs_2 t where t.destination_id = p_topic_id and t.xid = pg_current_xact_id() and t.seq = any (p_seqs);
        delete from howdah.topic_nonpersistent_2 t
        where t.destination_id = p_topic_id and t.xid = pg_current_xact_id() and t.seq = any (p_seqs);
    end if;
end
$$;
