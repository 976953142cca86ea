-- howdah._history(p_topic_id, p_since, p_upto): messages of a topic that are still stored and committed, oldest first.
--
-- Returns  as howdah._topic_page, those sent from p_since on (NULL: all), without the expired ones.
-- Role     internal
create or replace function howdah._history(p_topic_id integer, p_since timestamptz, p_upto pg_snapshot default null)
returns table (
    xid xid8, seq bigint, sent_at timestamptz, expires_at timestamptz, destination_id integer, rank smallint, is_text boolean,
    content_type text, body bytea, headers jsonb, correlation_id text, reply_to text, message_type text, conversation_id uuid,
    client_id text, nonpersistent boolean
)
language sql volatile
as $$
    select p.*
    from (select coalesce(p_upto, howdah._snapshot()) as upto) s
    cross join lateral howdah._topic_page(howdah._slots_from('3'), p_topic_id, '3', -1, pg_snapshot_xmax(s.upto), s.upto, 2147483647) p
    where (p.sent_at < p_since) is not true and (p.expires_at <= howdah.now()) is not true
$$;

-- howdah._begin_since(p_subscription, p_since): have a new subscription pass over what was sent before a time.
--
-- Role     internal
--
-- The cursor goes to the oldest transaction that sent anything since; what that and younger ones had sent before is noted as done.
create or replace function howdah._begin_since(p_subscription howdah.subscriptions, p_since timestamptz) returns void
language plpgsql volatile
as $$
declare
    v_ack howdah.acks;
    v_first xid8;
    v_upto pg_snapshot;
    v_ring bigint := howdah._truncations();
begin
    for v_ack in select a.* from howdah.acks a where a.subscription_id = p_subscription.destination_id loop
        v_upto := howdah._snapshot();
        select h.xid into v_first from howdah._history(v_ack.destination_id, p_since, v_upto) h order by h.xid limit 1;
        if not found then
            perform howdah._move_cursor(howdah._cursor(v_ack.id), '3', -1, 0, v_upto);
            continue;
        end if;
        perform howdah._move_cursor(howdah._cursor(v_ack.id), '3', -1, 0, howdah._cut('3:3:'::pg_snapshot, v_upto, v_first));
        insert into howdah.acked (ack_id, seq, xid)
        select v_ack.id, h.seq, h.xid from howdah._history(v_ack.destination_id, null, v_upto) h where h.xid >= v_first and h.sent_at < p_since;
    end loop;
    perform howdah._same_ring(v_ring);
end
$$;

-- howdah._recover(p_subscription, p_topic_id, p_upto): give a late non-durable subscriber what the topic's recovery policy keeps for such.
--
-- Role     internal
--
-- ActiveMQ's policies: last_image (the last message), retained (the last one with the header retain), fixed_count (the last so many),
-- fixed_size (the last of so many bytes in all), timed (of the last so many ms), query (those that a selector selects). They
-- become messages of the subscription's own, which are received before what is published from now on. p_upto: the snapshot that its cursor begins at, so that what
-- is committed meanwhile comes once.
create or replace function howdah._recover(p_subscription howdah.subscriptions, p_topic_id integer, p_upto pg_snapshot) returns void
language plpgsql volatile
as $$
declare
    v_topic howdah.topics;
    v_destination howdah.destinations;
    v_row record;
    v_selected bigint[];
    v_wanted bigint[];
begin
    select t.* into v_topic from howdah.topics t where t.destination_id = p_topic_id;
    if v_topic.recovery = 'none' then
        return;
    end if;
    select d.* into v_destination from howdah.destinations d where d.id = p_subscription.destination_id;
    v_selected := howdah._select_history(p_topic_id, howdah._selector_sql(v_topic.recovery_selector), p_upto);
    v_wanted := howdah._select_history(p_topic_id, p_subscription.selector_sql, p_upto);
    for v_row in
        select k.*, k.seq * 1000000 + k.destination_id as message_id
        from (
            select h.*, row_number() over w as back, sum(octet_length(h.body)) over w as bytes,
                row_number() over (partition by h.headers -> 'retain' = 'true' order by h.seq desc) as retained
            from howdah._history(p_topic_id, case when v_topic.recovery = 'timed'
                then howdah.now() - v_topic.recovery_amount * interval '1 millisecond' end, p_upto) h
            window w as (order by h.seq desc)
        ) k
        where (k.client_id = p_subscription.client_id and p_subscription.no_local) is not true
          and case v_topic.recovery
            when 'last_image' then k.back = 1
            when 'retained' then k.headers -> 'retain' = 'true' and k.retained = 1
            when 'fixed_count' then k.back <= v_topic.recovery_amount
            when 'fixed_size' then k.bytes <= v_topic.recovery_amount
            when 'query' then k.seq = any (v_selected)
            else true end
          and (v_wanted is null or k.seq = any (v_wanted))
        order by k.seq
    loop
        perform howdah._put(howdah._own_copy(v_destination, v_row.message_id, v_row.sent_at, v_row.expires_at, v_row.rank, v_row.is_text,
            v_row.content_type, v_row.body, v_row.headers, v_row.correlation_id, v_row.reply_to, v_row.message_type, v_row.conversation_id),
            v_row.nonpersistent, false);
    end loop;
end
$$;

-- howdah._select_history(p_topic_id, p_selector_sql, p_upto): the stored messages of a topic that a compiled selector selects.
--
-- Returns  their positions (bigint[]); NULL: there is no selector.
-- Role     internal
create or replace function howdah._select_history(p_topic_id integer, p_selector_sql text, p_upto pg_snapshot) returns bigint[]
language plpgsql volatile
as $$
declare
    v_seqs bigint[];
begin
    if p_selector_sql is not null then
        execute format('select coalesce(array_agg(m.seq), ''{}'')
            from (select h.*, h.seq * 1000000 + h.destination_id as message_id from howdah._history($1, null, $2) h) m where (%s) is true', p_selector_sql)
        into v_seqs using p_topic_id, p_upto;
    end if;
    return v_seqs;
end
$$;

-- howdah.topic_history(topic, since, max_messages): look at the messages of a topic that are still stored, without receiving them.
--
-- Returns  howdah.message, oldest first: of those sent from since on (NULL: all) the first max_messages.
-- Raises   HD001 no such topic; HD005 max_messages is not positive; HD010 not allowed; HD037 on a standby.
-- Role     howdah_browser howdah_admin
create or replace function howdah.topic_history(topic text, since timestamptz default null, max_messages integer default 100)
returns setof howdah.message
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_id integer := (howdah._topic(topic, 'browse')).id;
begin
    perform howdah._check_all_here();
    if (max_messages > 0) is not true then
        raise exception using errcode = 'HD005', message = 'max_messages must be positive';
    end if;
    return query
    select h.seq * 1000000 + h.destination_id, topic, case when h.is_text then convert_from(h.body, 'UTF8') end,
        case when not h.is_text then h.body end, h.content_type, h.headers, 9 - h.rank, h.correlation_id, h.reply_to, h.message_type,
        h.conversation_id, case when h.nonpersistent then 'non-persistent' else 'persistent' end, h.sent_at, h.expires_at, 1, false,
        h.seq, 0, null::text, null::text, null::timestamptz
    from howdah._history(v_id, since) h order by h.seq limit max_messages;
end
$$;
