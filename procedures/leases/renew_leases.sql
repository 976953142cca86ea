-- howdah.renew_leases(queues, leases, duration): let several leases run from now for so long, and say which there still
-- are.
--
-- Returns  the numbers of those that still have a message (setof bigint); the others have lost what they had.
-- Raises   HD001 no such queue; HD005 duration is not 1 ms to 7 days, or the arrays are not of one length; HD010 not
--          allowed. HD026 is not raised: such a lease is left out.
-- Role     howdah_consumer howdah_admin
--
-- The heartbeat of a session that holds messages. A lease that a transaction is just acknowledging is passed by after a
-- fifth of a second.
create or replace function howdah.renew_leases(
    queues text[], leases bigint[], duration interval default '30 seconds'
) returns setof bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp set lock_timeout = '200ms'
as $$
declare
    v_lease record;
begin
    perform howdah._check_together(queues, leases, cardinality(leases));
    for v_lease in select u.queue, u.lease from unnest(queues, leases) u(queue, lease) order by u.queue, u.lease loop
        begin
            perform howdah.extend(v_lease.queue, v_lease.lease, duration);
            return next v_lease.lease;
        exception
            when sqlstate 'HD026' then
                null;
            when lock_not_available then
                return next v_lease.lease;
        end;
    end loop;
end
$$;
