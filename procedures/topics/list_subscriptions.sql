-- howdah.list_subscriptions(topic): subscriptions, durable and not, with how far behind they are.
--
-- Returns  one row a subscription, by name; topic: only those that read it. behind: messages published since the first one it has not
--          read, of all its topics, at most (rolled-back and unwanted ones are counted); behind_for: the age of that one; set_aside: failed
--          messages that wait for another try. silent_for: since a consumer was heard of.
-- Raises   HD001 no such topic; HD037 on a standby.
-- Role     howdah_admin howdah_consumer howdah_browser howdah_auditor
create or replace function howdah.list_subscriptions(topic text default null) returns table (
    subscription text, topic_name text, client_id text, name text, durable boolean, shared boolean, no_local boolean, prioritized boolean,
    selector text, paused boolean, behind bigint, behind_for interval, delivered bigint, set_aside bigint, silent_for interval,
    created_at timestamptz, created_by text
)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_topic integer := (select d.id from howdah.destinations d where d.name = topic and d.kind = 'topic' and d.dropped_at is null);
begin
    perform howdah._check_all_here();
    if topic is not null and v_topic is null then
        raise exception using errcode = 'HD001', message = format('there is no topic %s', quote_literal(left(topic, 250))),
            hint = 'See howdah.list_topics().';
    end if;
    return query
    select d.name, s.topic, s.client_id, s.name, s.durable, s.shared, s.no_local, s.prioritized, s.selector, d.receiving_paused,
        coalesce(l.behind, 0)::bigint, coalesce(howdah.now() - l.oldest, interval '0'), coalesce(l.delivered, 0)::bigint,
        (select count(*) from howdah.msgs m where m.destination_id = d.id) + (select count(*) from howdah.parked p where p.destination_id = d.id and (p.boot is null or p.boot = pg_postmaster_start_time()))
            + (select count(*) from howdah.msgs_nonpersistent n where n.destination_id = d.id and n.boot = pg_postmaster_start_time()),
        interval '1 millisecond' * howdah._silent_ms(s.alive),
        d.created_at, d.created_by
    from howdah.subscriptions s
    join howdah.destinations d on d.id = s.destination_id
    left join (
        select t.subscription_id, sum(t.behind) as behind, min(t.oldest) as oldest, sum(t.delivered) as delivered
        from howdah._lags(v_topic) t group by t.subscription_id
    ) l on l.subscription_id = d.id
    where d.dropped_at is null
      and (v_topic is null or exists (select from howdah.acks a where a.subscription_id = d.id and a.destination_id = v_topic))
    order by d.name;
end
$$;

-- howdah._lag(p_ack): how far a cursor is behind.
--
-- Returns  one row: messages from the first one not read to the last position given out, when that first one was sent (NULL: it is at
--          the end), messages delivered.
-- Role     internal
--
-- It reads one message, however many there are.
create or replace function howdah._lag(p_ack howdah.acks) returns table (behind bigint, oldest timestamptz, delivered bigint)
language plpgsql volatile
as $$
declare
    v_at record;
    v_upto pg_snapshot := howdah._snapshot();
    v_segment record;
    v_first record;
begin
    select c as cursor, c.delivered, pg_sequence_last_value(d.positions) as last, (select count(*) from howdah.acked a where a.ack_id = p_ack.id) as acked
    into v_at
    from howdah.ack_cursors c cross join howdah.destinations d
    where c.ack_id = p_ack.id and d.id = p_ack.destination_id order by c.n desc limit 1;
    delivered := v_at.delivered + v_at.acked;
    behind := 0;
    for v_segment in select * from howdah._segments(v_at.cursor, p_ack.destination_id, v_upto) loop
        select p.seq, p.sent_at into v_first
        from howdah._topic_page(v_segment.slots, p_ack.destination_id, v_segment.from_xid, v_segment.from_seq, v_segment.to_xid, v_upto, 1) p;
        if found then
            oldest := least(oldest, v_first.sent_at);
            behind := greatest(behind, v_at.last - v_first.seq + 1, 1);
        end if;
    end loop;
    return next;
end
$$;

-- howdah.last_acked_id(ack_id): the number up to which a cursor has passed every message of its topic, as ActiveMQ's LAST_ACKED_ID.
--
-- Returns  bigint; -1: none.
-- Raises   HD037 on a standby.
-- Role     howdah_auditor howdah_admin
--
-- The message before the least one that is not read, or leased and not acknowledged: so what ActiveMQ's statements list as pending (ID > LAST_ACKED_ID) leaves nothing
-- out. Where a publisher committed late, or consumers acknowledged out of order, it has messages in it that were read. It reads all that
-- the cursor is behind; howdah.list_subscriptions tells the lag from one message.
create or replace function howdah.last_acked_id(ack_id integer) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    perform howdah._check_all_here();
    return (select coalesce(coalesce(least(min(h.seq), (select min(k.seq) from howdah.acked k where k.ack_id = last_acked_id.ack_id and k.lease_id is not null)) - 1,
        max(pg_sequence_last_value(d.positions))) * 1000000 + max(d.id), -1)
    from howdah.acks a
    join howdah.subscriptions s on s.destination_id = a.subscription_id
    join howdah.destinations d on d.id = a.destination_id
    left join lateral howdah._ahead(s, a, howdah._snapshot(), null, null) h on true
    where a.id = last_acked_id.ack_id);
end
$$;
