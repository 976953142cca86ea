-- howdah._page(p_subscription, p_ack, p_slots, p_after, p_after_seq, p_to, p_upto, p_limit): a page of a topic as a
-- subscription sees it.
--
-- Returns  as howdah._topic_page, with message_id, done (acknowledged out of order, or set aside) and wanted. wanted is
--          false for messages that the subscription skips because of its selector, no_local or priority, and for
--          expired ones.
-- Role     internal
--
-- done is read for the page's range of numbers. With a selector each message is looked up by key; EXISTS would read all
-- that were ever recorded. Only a selector is executed as text: as howdah._compile_selector made it, once per page.
create or replace function howdah._page(
    p_subscription howdah.subscriptions, p_ack howdah.acks, p_slots integer[], p_after xid8, p_after_seq bigint,
    p_to xid8, p_upto pg_snapshot, p_limit integer
) returns table (
    xid xid8, seq bigint, sent_at timestamptz, expires_at timestamptz, destination_id integer, rank smallint,
    is_text boolean, content_type text, body bytea, headers jsonb, correlation_id text, reply_to text,
    message_type text, conversation_id uuid, client_id text, reliability smallint, nonpersistent boolean,
    message_id bigint, done boolean, wanted boolean
)
language plpgsql volatile rows 100
as $$
declare
    v_now timestamptz := howdah.now();
    -- Ask for large pages only: under an old snapshot, the dead rows would be met each time.
    v_acked boolean := p_limit <= 64 or exists (select from howdah.acked a where a.ack_id = p_ack.id);
    v_rank smallint := case when p_subscription.prioritized then 9 - p_ack.priority end;
    v_local text := case when p_subscription.no_local then p_subscription.client_id end;
begin
    if p_subscription.selector_sql is null then
        return query
        with page as materialized (
            select * from howdah._topic_page(p_slots, p_ack.destination_id, p_after, p_after_seq, p_to, p_upto, p_limit)
        ), done as materialized (
            select a.seq from howdah.acked a
            where v_acked and a.ack_id = p_ack.id
              and a.seq between (select min(p.seq) from page p) and (select max(p.seq) from page p)
        )
        select p.*, p.seq * 1000000 + p.destination_id, p.seq in (select d.seq from done d),
            (p.expires_at > v_now) is not false and (p.rank = v_rank) is not false
            and (p.client_id = v_local) is not true
        from page p;
    else
        return query execute format(
            'select m.*, $9 and (select true from howdah.acked a where a.ack_id = $10
                and a.seq = m.seq limit 1) is true,
                (m.expires_at > $11) is not false and (m.rank = $12) is not false
                    and (m.client_id = $13) is not true and (%s) is true
            from (select p.*, p.seq * 1000000 + p.destination_id as message_id
                  from howdah._topic_page($1, $2, $3, $4, $5, $6, $7) p offset $8) m', p_subscription.selector_sql)
        using p_slots, p_ack.destination_id, p_after, p_after_seq, p_to, p_upto, p_limit, 0, v_acked, p_ack.id, v_now,
            v_rank, v_local;
    end if;
end
$$;
