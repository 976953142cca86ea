-- howdah._recover(p_subscription, p_topic_id, p_upto): give a late non-durable subscriber the messages that the topic's
-- recovery policy keeps.
--
-- Role     internal
--
-- These are ActiveMQ's policies. last_image keeps the last message; retained keeps the last message with the header
-- retain; fixed_count keeps the last N. fixed_size keeps the last ones up to N bytes in total; timed keeps those of the
-- last N ms. query keeps those that a selector selects.
--
-- They become messages of the subscription's own, and are received before what is published from now on. p_upto is the
-- snapshot at which its cursor begins, so that what commits meanwhile comes once.
create or replace function howdah._recover(
    p_subscription howdah.subscriptions, p_topic_id integer, p_upto pg_snapshot
) returns void
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
    v_selected := howdah._select_history(p_topic_id, howdah._compile_selector(v_topic.recovery_selector), p_upto);
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
        perform howdah._put(howdah._own_copy(v_destination, v_row.message_id, v_row.sent_at, v_row.expires_at,
            v_row.rank, v_row.is_text, v_row.content_type, v_row.body, v_row.headers, v_row.correlation_id,
            v_row.reply_to, v_row.message_type,
            v_row.conversation_id, v_row.reliability),
            v_row.nonpersistent, false);
    end loop;
end
$$;
