-- howdah._locate(p_subscription, p_ack, p_seqs): find messages that a cursor has not passed, done or not.
--
-- Returns  as howdah._messages_ahead.
-- Role     internal
--
-- The wanted messages were received last, so they are near the cursor. The search goes on from there until all are
-- found.
create or replace function howdah._locate(p_subscription howdah.subscriptions, p_ack howdah.acks, p_seqs bigint[])
returns table (
    xid xid8, seq bigint, sent_at timestamptz, expires_at timestamptz, destination_id integer, rank smallint,
    is_text boolean, content_type text, body bytea, headers jsonb, correlation_id text, reply_to text,
    message_type text, conversation_id uuid, client_id text, reliability smallint, nonpersistent boolean,
    message_id bigint, done boolean, wanted boolean
)
language sql volatile
as $$ select * from howdah._messages_ahead(p_subscription, p_ack, howdah._snapshot(), cardinality(p_seqs), p_seqs) $$;
