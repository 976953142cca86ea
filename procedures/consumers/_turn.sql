-- howdah._turn(p_queue, p_consumer, p_now): whether it is a consumer's turn in a queue that tells its consumers apart.
--
-- Returns  admitted: false, another one is active; alone: only one at a time may be at work; share: for round_robin the condition on positions that are this one's; NULL: all.
-- Raises   HD032 the queue needs an open consumer, or this one is not open (any more).
-- Role     internal
--
-- Consumers found dead are closed here, so failover needs no daemon.
create or replace function howdah._turn(
    p_queue howdah.destinations, p_consumer bigint, p_now timestamptz,
    out admitted boolean, out alone boolean, out share text
) returns record
language plpgsql volatile
as $$
declare
    v_turn record;
    v_first integer;
begin
    if p_consumer is null and (p_queue.delivery_policy <> 'shared' or p_queue.message_groups = 'sticky') then
        raise exception using errcode = 'HD032', message = format('queue %s tells its consumers apart', quote_literal(p_queue.name)),
            hint = 'Call howdah.open_consumer(queue), COMMIT, and receive with consumer => its number.';
    elsif p_consumer is not null then
        perform howdah._check_consumer(p_queue, p_consumer, p_now);
    end if;
    perform howdah._close_dead(p_queue.id, p_now, p_consumer::integer);
    v_first := howdah._active_consumer(p_queue);
    alone := v_first is not null;
    admitted := v_first is null or v_first is not distinct from p_consumer;
    if p_queue.delivery_policy = 'round_robin' and not alone then
        select min(c.opened_position) filter (where c.id = o.first) as base, count(*) as consumers, count(*) filter (where c.id < p_consumer) as number
        into v_turn
        from howdah.consumers c cross join (select min(f.id) as first from howdah.consumers f where f.destination_id = p_queue.id) o
        where c.destination_id = p_queue.id;
        share := case when v_turn.consumers > 1
            then format('((m.seq - %s) %% %s + %2$s) %% %2$s = %s', v_turn.base + 1, v_turn.consumers, v_turn.number) end;
    end if;
end
$$;

-- howdah._check_consumer(p_destination, p_consumer, p_now): refuse a consumer that is not open, and note that it is alive.
--
-- Raises   HD032 it is not open (any more).
-- Role     internal
--
-- A quarter of its time-out may pass unnoted, so that receivers write little.
create or replace function howdah._check_consumer(p_destination howdah.destinations, p_consumer bigint, p_now timestamptz) returns void
language plpgsql volatile
as $$
declare
    v_kind text := case when p_destination.kind = 'subscription' then 'subscription' else 'queue' end;
begin
    perform pg_advisory_xact_lock_shared(howdah._lock_key('consumer', p_consumer::text));
    if not exists (select from howdah.consumers c where c.id = p_consumer and c.destination_id = p_destination.id) then
        raise exception using errcode = 'HD032',
            message = format('consumer %s of %s %s is not open', p_consumer, v_kind, quote_literal(p_destination.name)),
            hint = format('It was closed, or silent for so long that others took over. Open another one with howdah.open_consumer(%s).', v_kind);
    end if;
    update howdah.consumers c set seen_at = p_now
    where c.ctid = any (array(select u.ctid from howdah.consumers u
                              where u.id = p_consumer and u.seen_at < p_now - u.timeout_ms * interval '250 microseconds' for update skip locked));
end
$$;

-- howdah._active_consumer(p_queue): the one consumer of a queue that gets messages, if only one does.
--
-- Returns  its number (integer); NULL: there is no exclusive consumer, and the queue is neither single nor failover or has none open.
-- Role     internal
create or replace function howdah._active_consumer(p_queue howdah.destinations) returns integer
language sql stable
as $$
    select c.id from howdah.consumers c
    where c.destination_id = p_queue.id and (c.exclusive or p_queue.delivery_policy in ('single', 'failover'))
    order by c.priority desc, c.id limit 1
$$;

-- howdah._close_dead(p_destination_id, p_now, p_but): close the consumers of a queue that are gone, but not that one.
--
-- Returns  how many (bigint).
-- Role     internal
--
-- Gone: silent for longer than its time-out, or its session ended; and in no transaction. An open transaction and a session of its own hold a lock that is
-- tried here; it is tried for those only that may be gone, because having it makes their next receive wait. Who had a session of its own has lost it, so its
-- leases end too.
create or replace function howdah._close_dead(p_destination_id integer, p_now timestamptz, p_but integer default null) returns bigint
language plpgsql volatile
as $$
declare
    v_dead integer[];
    v_leases bigint[];
    v_count bigint;
begin
    v_dead := array(
        select l.id
        from (select c.id from howdah.consumers c
              where c.destination_id = p_destination_id and c.id is distinct from p_but
                and (c.own_session or c.seen_at < p_now - c.timeout_ms * interval '1 millisecond')
              offset 0) l
        where pg_try_advisory_xact_lock(howdah._lock_key('consumer', l.id::text)) and not howdah._is_own_session(l.id));
    if cardinality(v_dead) = 0 then
        return 0;
    end if;
    v_dead := array(select c.id from howdah.consumers c where c.id = any (v_dead) for update skip locked);
    with gone as (delete from howdah.consumer_leases l where l.consumer_id = any (v_dead) returning l.lease_id)
    select array_agg(g.lease_id) into v_leases from gone g;
    if v_leases is not null then
        perform howdah._end_leases_of(p_destination_id, v_leases, p_now);
    end if;
    delete from howdah.consumers c where c.id = any (v_dead);
    get diagnostics v_count = row_count;
    return v_count;
end
$$;

-- howdah._is_own_session(p_consumer): whether the consumer lives with this very session, whose own locks never stand in its way.
--
-- Returns  boolean.
-- Role     internal
create or replace function howdah._is_own_session(p_consumer integer) returns boolean
language sql volatile
as $$
    select exists (select from pg_locks l cross join (select howdah._lock_key('consumer', p_consumer::text) as key) k
                   where l.locktype = 'advisory' and (l.classid::bigint << 32 | l.objid::bigint) = k.key and l.objsubid = 1
                     and l.pid = pg_backend_pid() and l.mode = 'ShareLock' and l.granted)
$$;
