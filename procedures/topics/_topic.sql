-- howdah._topic(p_name, p_verb): a topic that the caller may use so.
--
-- Returns  the row of howdah.destinations.
-- Raises   HD001 no such topic; HD010 the caller has no such right there.
-- Role     internal
create or replace function howdah._topic(p_name text, p_verb text) returns howdah.destinations
language plpgsql stable
as $$
declare
    v_topic howdah.destinations := howdah._destination(p_name, p_verb);
begin
    if v_topic.kind <> 'topic' then
        raise exception using errcode = 'HD001', message = format('%s is a %s, not a topic', quote_literal(p_name), v_topic.kind),
            hint = 'See howdah.list_topics().';
    end if;
    return v_topic;
end
$$;

-- howdah._is_wildcard(p_topic): whether a subscription's topic is a wildcard.
--
-- Returns  boolean.
-- Role     internal
create or replace function howdah._is_wildcard(p_topic text) returns boolean
language sql immutable
as $$ select strpos(p_topic, '*') > 0 or right(p_topic, 1) = '>' $$;

-- howdah._may(p_destination_id, p_verb): whether the caller may use a destination so.
--
-- Returns  boolean.
-- Role     internal
--
-- Asked of each topic of a wildcard at each receive: who subscribed did not know which topics would match, nor who may read them later. A
-- subscription to one topic has rights of its own, made from that topic's, and nothing is looked up for it.
create or replace function howdah._may(p_destination_id integer, p_verb text) returns boolean
language sql stable
as $$
    select exists (select from howdah.destination_grants g
                   where g.destination_id = p_destination_id and g.verb = p_verb
                     and howdah._has_role(g.role_name))
$$;

-- howdah._subscription(p_name, p_verb): a subscription that the caller may use so.
--
-- Returns  the row of howdah.destinations; p_name is what howdah.subscribe returned.
-- Raises   HD001 no such subscription; HD010 the caller has no such right there.
-- Role     internal
create or replace function howdah._subscription(p_name text, p_verb text) returns howdah.destinations
language plpgsql stable
as $$
declare
    v_subscription howdah.destinations := howdah._destination(p_name, p_verb);
begin
    if v_subscription.kind <> 'subscription' then
        raise exception using errcode = 'HD001', message = format('%s is a %s, not a subscription', quote_literal(p_name), v_subscription.kind),
            hint = 'See howdah.list_subscriptions().';
    end if;
    return v_subscription;
end
$$;

-- howdah._lock_names(): create topics, and what finds topics by their names, one after the other.
--
-- Role     internal
--
-- Else a wildcard and a topic that it matches, made at the same time, would not know of each other.
create or replace function howdah._lock_names() returns void
language sql volatile
as $$ select howdah._latch('names') $$;

-- howdah._matches(p_name, p_pattern): whether a name matches a wildcard.
--
-- Returns  boolean.
-- Role     internal
--
-- Parts between dots: * stands for one part, > at the end for the rest, or for nothing more.
create or replace function howdah._matches(p_name text, p_pattern text) returns boolean
language sql immutable
as $$
    select case
        when p_pattern = '>' then true
        when p_pattern like '%.>' then p_name ~ ('^' || replace(replace(left(p_pattern, -2), '.', '[.]'), '*', '[^.]+') || '([.].+)?$')
        else p_name ~ ('^' || replace(replace(p_pattern, '.', '[.]'), '*', '[^.]+') || '$') end
$$;

-- howdah._check_wildcard(p_pattern): refuse what is no wildcard.
--
-- Raises   HD003 it is none.
-- Role     internal
create or replace function howdah._check_wildcard(p_pattern text) returns void
language plpgsql immutable
as $$
begin
    if p_pattern !~ '^([A-Za-z0-9_/-]+|[*])([.]([A-Za-z0-9_/-]+|[*]))*([.]>)?$|^>$' then
        raise exception using errcode = 'HD003', message = format('%s is no wildcard', quote_literal(left(p_pattern, 250))),
            hint = 'Parts between dots; * stands for one part, > at the end for the rest: STOCKS.*.EU, STOCKS.>.';
    end if;
end
$$;

-- howdah._note_readers(p_topic_id): note whether messages of a topic need to be stored, and whether they go on into queues.
--
-- Role     internal
--
-- Two statements: the second must see what another session did that the first waited for.
create or replace function howdah._note_readers(p_topic_id integer) returns void
language sql volatile
as $$
    -- Of two who change it at a time the second sees what the first one did, for it waits before its statement begins.
    select from howdah.topics t where t.destination_id = p_topic_id for no key update;
    update howdah.topics t
    set stored = exists (select from howdah.acks a where a.destination_id = t.destination_id)
            or t.retain_ms is not null or t.retain_bytes is not null or t.recovery <> 'none',
        bridged = exists (select from howdah.bridges b where b.topic_id = t.destination_id)
    where t.destination_id = p_topic_id
$$;

-- howdah._add_cursors(p_subscription, p_topic_id, p_snapshot): have a subscription read a topic from a snapshot on.
--
-- Role     internal
create or replace function howdah._add_cursors(p_subscription howdah.subscriptions, p_topic_id integer, p_snapshot pg_snapshot) returns void
language plpgsql volatile
as $$
declare
    v_priority integer;
    v_id integer;
begin
    for v_priority in 0 .. case when p_subscription.prioritized then 9 else 0 end loop
        v_id := null;
        while v_id is null loop  -- numbers begin anew when they are used up, and some may be in use
            insert into howdah.acks (destination_id, subscription_id, priority, client_id, subscription_name, selector)
            values (p_topic_id, p_subscription.destination_id, v_priority, p_subscription.client_id,
                case when p_subscription.durable then '' else '~' end || p_subscription.name, p_subscription.selector)
            on conflict (id) do nothing
            returning id into v_id;
        end loop;
        insert into howdah.ack_cursors (ack_id, n, xid, seq, delivered, at, snapshot)
        values (v_id, 0, '3', -1, 0, howdah.now(), p_snapshot);
    end loop;
    perform howdah._note_readers(p_topic_id);
end
$$;

-- howdah._note_alive(p_alive): note that a consumer of a subscription was heard of just now.
--
-- Role     internal
create or replace function howdah._note_alive(p_alive regclass) returns void
language sql volatile
as $$ select setval(p_alive, howdah._pace(clock_timestamp())) $$;

-- howdah._silent_ms(p_alive): for how long no consumer of a subscription has been heard of.
--
-- Returns  milliseconds (bigint).
-- Role     internal
create or replace function howdah._silent_ms(p_alive regclass) returns bigint
language sql volatile
as $$ select greatest(howdah._pace(clock_timestamp()) - coalesce(pg_sequence_last_value(p_alive), 0), 0) $$;
