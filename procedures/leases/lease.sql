-- howdah.lease(queue, max_messages, duration): receive messages for a time, without an open transaction.
--
-- Returns  up to max_messages rows: lease (bigint, one for all of them: the fencing token, greater than any given out before), leased_until,
--          and the columns of howdah.message.
-- Raises   HD001 no such queue; HD005 max_messages is not 1 to 10000, duration not 1 ms to 7 days, or it is a topic; HD009 receiving is
--          paused; HD010 not allowed; HD016, HD019, HD024, HD025 as howdah.receive.
-- Role     howdah_consumer howdah_admin
--
-- COMMIT at once: the messages are then this lease's until leased_until, whatever becomes of the session. End it with howdah.ack (they are
-- consumed), howdah.nack (a failed delivery) or howdah.release (given back, nobody to blame); howdah.extend lengthens it. A lease that runs out gives its
-- messages back, and that counts as a failed delivery (incident LeaseExpired). queue is a queue's name or a subscription's.
-- Leased messages and received ones of one queue do not disturb each other.
create or replace function howdah.lease(queue text, max_messages integer default 1, duration interval default '30 seconds') returns table (
    lease bigint, leased_until timestamptz, message_id bigint, queue_name text, body text, bytes bytea, content_type text, headers jsonb,
    priority integer, correlation_id text, reply_to text, message_type text, conversation_id uuid, delivery_mode text, sent_at timestamptz,
    expires_at timestamptz, delivery_count integer, redelivered boolean, "position" bigint, stage integer, origin_queue text,
    dead_reason text, dead_at timestamptz
)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
    v_held howdah.message[];
    v_until timestamptz;
    v_lease bigint;
begin
    v_until := howdah._lease_until(duration);
    v_held := array(select r from howdah.receive(queue, max_messages, true) r);
    if cardinality(v_held) > 0 then
        v_lease := nextval('howdah.lease_numbers'::regclass);
        perform howdah._take_lease(howdah._destination(queue, 'receive'), v_held, v_lease, v_until);
    end if;
    return query select v_lease, v_until, h.* from unnest(v_held) h;
end
$$;

-- howdah._lease_until(p_duration): when a lease of so long ends.
--
-- Returns  timestamptz.
-- Raises   HD005 it is not 1 ms to 7 days.
-- Role     internal
create or replace function howdah._lease_until(p_duration interval) returns timestamptz
language plpgsql volatile
as $$
begin
    if (p_duration between interval '1 millisecond' and interval '7 days') is not true then
        raise exception using errcode = 'HD005', message = format('a lease cannot last %s', coalesce(p_duration::text, 'NULL')),
            hint = 'It lasts 1 millisecond to 7 days; howdah.extend lengthens it.';
    end if;
    return howdah.now() + p_duration;
end
$$;

-- howdah._take_lease(p_destination, p_held, p_lease, p_until): lay messages that the caller holds under a lease.
--
-- Role     internal
--
-- As parked ones, due when the lease ends: so whoever receives then finds them, without any daemon. Topic messages stay where they are and
-- are noted in acked until then.
create or replace function howdah._take_lease(p_destination howdah.destinations, p_held howdah.message[], p_lease bigint, p_until timestamptz)
returns void
language plpgsql volatile
as $$
declare
    v_taken bigint;
begin
    perform howdah._open_lane(p_destination.id, h.rank, 0) from (select distinct 9 - u.priority as rank from unnest(p_held) u) h;
    with held as (
        select u.message_id, 9 - u.priority::bigint as rank, u."position" as seq from unnest(p_held) u
    ), ready as (
        delete from howdah.msgs m using held h
        where m.destination_id = p_destination.id and m.rank = h.rank and m.seq = h.seq and m.message_id = h.message_id
        returning m.*
    ), nonpersistent as (
        delete from howdah.msgs_nonpersistent n using held h
        where n.destination_id = p_destination.id and n.rank = h.rank and n.seq = h.seq and n.message_id = h.message_id
        returning n as stored
    ), again as (
        delete from howdah.parked p using held h
        where p.destination_id = p_destination.id and p.message_id = h.message_id
        returning p as stored
    ), leased as (
        insert into howdah.parked
        select r.*, p_until, 'lease', null::timestamptz, p_lease from ready r
        union all
        select (howdah._as_ready(n.stored)).*, p_until, 'lease', (n.stored).boot, p_lease from nonpersistent n
        union all
        select (howdah._as_ready(a.stored)).*, p_until, 'lease', (a.stored).boot, p_lease from again a
        returning 1
    )
    select count(*) into v_taken from leased;
    if v_taken < cardinality(p_held) then
        perform howdah._lease_published(p_destination, array(select u.message_id from unnest(p_held) u), p_lease, p_until);
    end if;
end
$$;

-- howdah._lease_published(p_destination, p_message_ids, p_lease, p_until): note topic messages as leased.
--
-- Role     internal
create or replace function howdah._lease_published(p_destination howdah.destinations, p_message_ids bigint[], p_lease bigint, p_until timestamptz)
returns void
language plpgsql volatile
as $$
declare
    v_subscription howdah.subscriptions;
    v_ack howdah.acks;
begin
    select s.* into v_subscription from howdah.subscriptions s where s.destination_id = p_destination.id;
    for v_ack in
        select a.* from howdah.acks a
        where a.subscription_id = p_destination.id and a.destination_id = any (array(select i.id % 1000000 from unnest(p_message_ids) i(id)))
    loop
        insert into howdah.acked as a (ack_id, seq, xid, lease_id, leased_until)
        select v_ack.id, l.seq, l.xid, p_lease, p_until
        from howdah._locate(v_subscription, v_ack,
            array(select i.id / 1000000 from unnest(p_message_ids) i(id) where i.id % 1000000 = v_ack.destination_id)) l
        where l.wanted and not l.done
        on conflict on constraint pk_acked do update set lease_id = excluded.lease_id, leased_until = excluded.leased_until;
    end loop;
end
$$;
