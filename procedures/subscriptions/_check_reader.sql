-- howdah._check_reader(p_subscription, p_consumer): refuse who would read an unshared subscription that is somebody else's.
--
-- Raises   HD024 it has an open consumer, or, for who has no number, messages of it are leased; HD032 the consumer is not open (any more).
-- Role     internal
--
-- The caller has locked the subscription. Whatever is leased beside an open consumer is that one's: nobody can open one, or lease without a
-- number, beside a lease.
create or replace function howdah._check_reader(p_subscription howdah.destinations, p_consumer bigint) returns void
language plpgsql volatile
as $$
begin
    if p_consumer is not null then
        perform howdah._check_consumer(p_subscription, p_consumer, howdah.now());
    else
        perform howdah._check_no_consumer(p_subscription);
        perform howdah._check_not_leased(p_subscription);
    end if;
end
$$;

-- howdah._has_consumer(p_subscription_id): whether a subscription has an open consumer; those that are gone are closed.
--
-- Returns  boolean.
-- Role     internal
create or replace function howdah._has_consumer(p_subscription_id integer) returns boolean
language plpgsql volatile
as $$
begin
    if not exists (select from howdah.consumers c where c.destination_id = p_subscription_id) then
        return false;
    end if;
    perform howdah._close_dead(p_subscription_id, howdah.now());
    return exists (select from howdah.consumers c where c.destination_id = p_subscription_id);
end
$$;

-- howdah._has_leased(p_subscription_id): whether messages of a subscription, or set aside for it, are leased.
--
-- Returns  boolean; of a lease that has ended nothing is. Consumers that are gone are closed, with which their leases may end.
-- Role     internal
create or replace function howdah._has_leased(p_subscription_id integer) returns boolean
language plpgsql volatile
as $$
declare
    v_now timestamptz := howdah.now();
begin
    perform howdah._has_consumer(p_subscription_id);
    return exists (select from howdah.acks a join howdah.acked d on d.ack_id = a.id
                   where a.subscription_id = p_subscription_id and d.lease_id is not null and d.leased_until > v_now)
        or (select true from howdah.parked p
            where p.destination_id = p_subscription_id and p.lease_id is not null and p.due_at > v_now
              and (p.boot is null or p.boot = pg_postmaster_start_time())
            order by p.lease_id limit 1) is true;
end
$$;

-- howdah._lock_subscription(p_subscription): keep consumers from a subscription until the transaction ends.
--
-- Raises   HD024 somebody is reading it: a transaction that received from it is open, or messages of it are leased.
-- Role     internal
create or replace function howdah._lock_subscription(p_subscription howdah.destinations) returns void
language plpgsql volatile
as $$
begin
    if not pg_try_advisory_xact_lock(howdah._lock_key('subscription', p_subscription.id::text)) then
        raise exception using errcode = 'HD024', message = format('subscription %s is being read', quote_literal(p_subscription.name)),
            hint = 'Try again when its consumers have ended their transactions.';
    end if;
    perform howdah._check_not_leased(p_subscription);
end
$$;

-- howdah._check_not_leased(p_subscription): refuse what must not pass over leased messages of a subscription.
--
-- Raises   HD024 messages of it are leased.
-- Role     internal
create or replace function howdah._check_not_leased(p_subscription howdah.destinations) returns void
language plpgsql volatile
as $$
begin
    if howdah._has_leased(p_subscription.id) then
        raise exception using errcode = 'HD024', message = format('messages of subscription %s are leased', quote_literal(p_subscription.name)),
            hint = 'Try again when they are acknowledged or released, or when their leases have ended (howdah.list_leases). To lease ahead, '
                'howdah.open_consumer(subscription) and lease with its number.';
    end if;
end
$$;

-- howdah._check_no_consumer(p_subscription): refuse who would read or end a subscription that has an open consumer.
--
-- Raises   HD024 it has one.
-- Role     internal
create or replace function howdah._check_no_consumer(p_subscription howdah.destinations) returns void
language plpgsql volatile
as $$
begin
    if howdah._has_consumer(p_subscription.id) then
        raise exception using errcode = 'HD024', message = format('subscription %s has an open consumer', quote_literal(p_subscription.name)),
            hint = 'That one alone reads it, by its number, until it is closed; see howdah.list_consumers(subscription).';
    end if;
end
$$;
