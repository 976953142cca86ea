-- howdah.unsubscribe(subscription): end a subscription, which loses what it has not read.
--
-- Raises   HD001 no such subscription; HD005 the transaction is not READ COMMITTED; HD010 not allowed; HD024 it is
--          being read: a transaction that received from it is open, messages of it are leased, or it has an open
--          consumer; HD045 the master of changes is away.
-- Role     howdah_consumer howdah_admin
create or replace function howdah.unsubscribe(subscription text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_subscription howdah.destinations := howdah._subscription(subscription, 'receive');
begin
    perform howdah._lock_subscription(v_subscription);
    perform howdah._check_no_consumer(v_subscription);
    perform howdah._unsubscribe(v_subscription, 'unsubscribed');
end
$$;
