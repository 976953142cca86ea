-- howdah.open_consumer(queue, exclusive, priority, own_session, timeout, instance): register as a consumer of a queue
-- that tells its consumers apart, or of an unshared subscription.
--
-- Returns  the consumer's number (bigint), to be passed to howdah.receive and howdah.lease. COMMIT first; then others
--          see it. NULL for a shared subscription, which takes any consumer.
-- Raises   HD001 no such queue; HD005 wrong argument, or queue is a topic; HD010 not allowed; HD024 the subscription
--          belongs to somebody else: it has an open consumer, a transaction that received from it is open, or messages
--          of it are leased; HD033 the queue's delivery_policy is single and it has a consumer; HD040 the engine is
--          quiesced or stopped; HD002, HD004, HD027 the missing queue cannot create itself (docs/auto-creation.md);
--          HD045 the master of changes is away.
-- Role     howdah_consumer howdah_admin
--
-- It is for queues whose delivery_policy is single, failover or round_robin, or whose message_groups are sticky. It is
-- also for an exclusive consumer of any queue: while it lives, no other consumer gets messages (except under
-- failover). If there are several, the one with the highest priority (0 to 127) gets them, then the first.
--
-- A consumer lives until howdah.close_consumer. With own_session it ends with the database session, and its leases run
-- out then, too; that does not work behind a pooler that shares sessions. In any case it ends when it has neither
-- received nor been in a transaction for timeout. instance: its home, with which it ends.
create or replace function howdah.open_consumer(
    queue text, exclusive boolean default false, priority integer default 0, own_session boolean default false,
    timeout interval default '60 seconds', instance text default null
) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_destination howdah.destinations := howdah._destination_or_new(queue, 'receive');
    v_now timestamptz := howdah.now();
    v_id integer;
    v_home uuid := (select i.instance_id from howdah.instances i where i.name = instance);
begin
    perform howdah._check_engine('{quiesced,stopped}');
    if v_destination.kind = 'topic' then
        raise exception using errcode = 'HD005', message = format('%s is a topic', quote_literal(queue)),
            hint = 'Subscribe to it with howdah.subscribe(topic, name) and open a consumer of the name that returns.';
    elsif v_destination.kind = 'subscription' and (exclusive or priority <> 0) then
        raise exception using errcode = 'HD005',
            message = format('%s is no queue: exclusive and priority are for queues', quote_literal(queue)),
            hint =
                'A subscription has one consumer at a time, or with shared => true any number; see howdah.subscribe.';
    elsif (priority between 0 and 127 and timeout between interval '1 second' and interval '1 day') is not true
       or exclusive is null or own_session is null or instance is not null and v_home is null then
        raise exception using errcode = 'HD005', message = 'wrong argument of a consumer',
            hint = 'priority is 0 to 127, timeout 1 second to 1 day; exclusive and own_session are not NULL; '
                'instance is the name of a live instance, or NULL.';
    end if;
    if v_destination.kind = 'subscription' then
        if (select s.shared from howdah.subscriptions s where s.destination_id = v_destination.id) then
            return null;
        end if;
        perform howdah._lock_subscription(v_destination);
        perform howdah._check_no_consumer(v_destination);
    end if;
    perform pg_advisory_xact_lock(howdah._lock_key('consumers', v_destination.id::text));
    perform howdah._close_dead(v_destination.id, v_now);
    if v_destination.delivery_policy = 'single' and exists (select from howdah.consumers c
        where c.destination_id = v_destination.id) then
        raise exception using errcode = 'HD033', message = format('queue %s has a consumer, and takes a single one',
            quote_literal(queue)),
            hint = 'Wait until it is closed, or give the queue another delivery_policy.';
    end if;
    while v_id is null loop  -- ids start again when they are used up, and some may be in use
        insert into howdah.consumers (destination_id, exclusive, priority, own_session, timeout_ms, opened_at,
            opened_by, opened_position, seen_at, instance_id)
        values (v_destination.id, open_consumer.exclusive, open_consumer.priority, open_consumer.own_session,
            (extract(epoch from timeout) * 1000)::bigint, v_now, howdah._caller(),
            howdah._hint(v_destination.positions), v_now, v_home)
        on conflict (id) do nothing
        returning id into v_id;
    end loop;
    if own_session then
        perform pg_advisory_lock_shared(howdah._lock_key('consumer', v_id::text));
    end if;
    perform nextval(v_destination.special);
    return v_id;
end
$$;
