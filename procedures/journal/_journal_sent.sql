-- howdah._digest(p_secret, p_body, p_headers, p_is_text, p_content_type, p_correlation_id, p_reply_to, p_message_type, p_conversation_id): what tells a message's content from any other.
--
-- Returns  16 bytes (bytea): the first half of a SHA-256.
-- Role     internal
--
-- The three headers that a dead letter queue of ActiveMQ's adds are left out: a message has the same digest wherever it lies. The secret is that of the
-- engine: without it whoever reads digests could find a short body by trying. The length at the end says where the body begins.
-- The view of audits has the same expression, for a view calls functions in its reader's name.
create or replace function howdah._digest(
    p_secret uuid, p_body bytea, p_headers jsonb, p_is_text boolean, p_content_type text, p_correlation_id text, p_reply_to text,
    p_message_type text, p_conversation_id uuid
) returns bytea
language sql stable
as $$
    select substr(sha256(
        convert_to(row(p_secret, nullif(p_headers - array['originalExpiration', 'originalDeliveryMode', 'dlqDeliveryFailureCause'], '{}'), p_is_text,
            p_content_type, p_correlation_id, p_reply_to, p_message_type, p_conversation_id)::text, 'UTF8')
        || p_body || int4send(octet_length(p_body))), 1, 16)
$$;

-- howdah._digests(p_bodies, p_headers, p_is_text, p_content_type, p_correlation_ids, p_reply_to, p_message_types, p_conversation_ids): the digests of a batch.
--
-- Returns  bytea[] in the order of p_bodies.
-- Role     internal
create or replace function howdah._digests(
    p_bodies bytea[], p_headers jsonb[], p_is_text boolean, p_content_type text, p_correlation_ids text[], p_reply_to text, p_message_types text[],
    p_conversation_ids uuid[]
) returns bytea[]
language plpgsql stable
as $$
declare
    v_secret constant uuid := (select e.digest_secret from howdah.engine e);
begin
    return array(
        select howdah._digest(v_secret, b.body, b.headers, p_is_text, p_content_type, b.correlation_id, p_reply_to, b.message_type, b.conversation_id)
        from unnest(p_bodies, p_headers, p_correlation_ids, p_message_types, p_conversation_ids) with ordinality
            b(body, headers, correlation_id, message_type, conversation_id, n)
        order by b.n);
end
$$;

-- howdah._journal_sent(p_destination, p_message_ids, p_nonpersistent, p_sent_at, p_expires_at, p_headers, p_conversation_ids, p_priorities, p_delayed, p_digests): record what came into a destination, and what an audit needs to judge its end.
--
-- Role     internal
--
-- For callers that have seen journal_level full. p_sent_at and p_expires_at are those of all of them; arrays are NULL or as long as p_message_ids. Groups are
-- recorded where they bind: in a queue with message_groups, of what is not delayed.
create or replace function howdah._journal_sent(
    p_destination howdah.destinations, p_message_ids bigint[], p_nonpersistent boolean, p_sent_at timestamptz, p_expires_at timestamptz, p_headers jsonb[],
    p_conversation_ids uuid[], p_priorities integer[], p_delayed boolean, p_digests bytea[]
) returns void
language plpgsql volatile
as $$
declare
    v_count integer := cardinality(p_message_ids);
    v_groups text[];
    v_priorities smallint[] := array_fill(p_destination.default_priority::smallint, array[v_count]);
    v_settled bigint;
begin
    if v_count = 0 then
        return;
    end if;
    if p_priorities is not null then
        v_priorities := array(select coalesce(u.priority, p_destination.default_priority) from unnest(p_priorities) with ordinality u(priority, n) order by u.n);
    end if;
    if p_destination.message_groups <> 'none' and p_delayed is not true then
        select array_agg(howdah._group(u.headers, u.conversation_id) order by u.n), pg_snapshot_xmin(pg_current_snapshot())::text::bigint
        into v_groups, v_settled
        from unnest(p_message_ids, p_headers, p_conversation_ids) with ordinality u(message_id, headers, conversation_id, n)
        having count(howdah._group(u.headers, u.conversation_id)) > 0;
    end if;
    insert into howdah.journal (at, destination_id, nonpersistent, event, message_ids, oldest_sent_at, expires_at, group_ids, priorities, settled_xid, digests)
    values (howdah.now(), p_destination.id, p_nonpersistent, 'sent', p_message_ids, p_sent_at,
        case when p_expires_at is not null then array_fill(p_expires_at, array[v_count]) end, v_groups, v_priorities, v_settled, p_digests);
end
$$;

-- howdah._journal_one_sent(p_destination, p_message, p_body, p_nonpersistent, p_delayed): the same for one message, and whatever it is.
--
-- Role     internal
--
-- p_body: its body, wherever that lies.
create or replace function howdah._journal_one_sent(
    p_destination howdah.destinations, p_message howdah.msgs, p_body bytea, p_nonpersistent boolean, p_delayed boolean
) returns void
language plpgsql volatile
as $$
declare
    v_group text := case when p_destination.message_groups <> 'none' and p_delayed is not true
        then howdah._group(p_message.headers, p_message.conversation_id) end;
begin
    insert into howdah.journal (at, destination_id, nonpersistent, event, message_ids, oldest_sent_at, expires_at, group_ids, priorities, settled_xid, digests)
    select howdah.now(), p_destination.id, p_nonpersistent, 'sent', array[p_message.message_id], p_message.sent_at,
        case when p_message.expires_at is not null then array[p_message.expires_at] end,
        case when v_group is not null then array[v_group] end, array[9 - p_message.rank],
        case when v_group is not null then pg_snapshot_xmin(pg_current_snapshot())::text::bigint end,
        array[howdah._digest(e.digest_secret, p_body, p_message.headers, p_message.is_text, p_message.content_type, p_message.correlation_id,
            p_message.reply_to, p_message.message_type, p_message.conversation_id)]
    from howdah.engine e;
end
$$;
