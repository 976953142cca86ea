-- howdah._lock_subscription(p_subscription): keep consumers from a subscription until the transaction ends.
--
-- Raises   HD024 it is being read: a transaction that received from it is open, or messages of it are leased.
-- Role     internal
create or replace function howdah._lock_subscription(p_subscription howdah.destinations) returns void
language plpgsql volatile
as $$
begin
    if not pg_try_advisory_xact_lock(howdah._lock_key('subscription', p_subscription.id::text)) then
        raise exception using errcode = 'HD024', message = format('subscription %s is being read',
            quote_literal(p_subscription.name)),
            hint = 'Try again when its consumers have ended their transactions.';
    end if;
    perform howdah._check_not_leased(p_subscription);
end
$$;
