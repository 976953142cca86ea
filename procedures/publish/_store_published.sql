-- howdah._store_published(p_table, p_topic, p_seqs, …): insert a batch into one of the tables of topic messages.
--
-- Role     internal
--
-- p_table is 0 to 2 for the persistent tables and 3 to 5 for the non-persistent ones. Each has a statement of its own,
-- so that no other table is locked.
create or replace function howdah._store_published(
    p_table bigint, p_topic howdah.destinations, p_seqs bigint[], p_now timestamptz, p_expires_at timestamptz,
    p_is_text boolean, p_content_type text, p_bodies bytea[], p_headers jsonb[], p_priorities integer[],
    p_correlation_ids text[], p_reply_to text, p_message_types text[], p_conversation_ids uuid[],
    p_reliability smallint
) returns void
language plpgsql volatile
as $$
begin
    case p_table
        -- for N in 0, 1, 2:
        when N then
            insert into howdah.topic_msgs_N (seq, sent_at, expires_at, destination_id, rank,
                is_text, content_type, body, headers, correlation_id, reply_to, message_type, conversation_id,
                client_id, reliability)
            select * from howdah._published_rows(p_topic, p_seqs, p_now, p_expires_at, p_is_text, p_content_type,
                p_bodies, p_headers, p_priorities, p_correlation_ids, p_reply_to, p_message_types, p_conversation_ids,
                p_reliability);
        -- end for
        -- for N in 0, 1, 2:
        when 3 + N then
            insert into howdah.topic_nonpersistent_N (seq, sent_at, expires_at, destination_id, rank,
                is_text, content_type, body, headers, correlation_id, reply_to, message_type, conversation_id,
                client_id, reliability)
            select * from howdah._published_rows(p_topic, p_seqs, p_now, p_expires_at, p_is_text, p_content_type,
                p_bodies, p_headers, p_priorities, p_correlation_ids, p_reply_to, p_message_types, p_conversation_ids,
                p_reliability);
        -- end for
    end case;
end
$$;
