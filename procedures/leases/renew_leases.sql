-- howdah.renew_leases(queues, leases, duration): extend several leases to a duration from now, and list those that
-- still exist.
--
-- Returns  the leases that still have a message (setof bigint). The others have lost theirs, or are of a queue that was
--          dropped, or from which the caller may not receive any more.
-- Raises   HD005 duration is not 1 ms to 7 days, or the arrays differ in length. HD001, HD010 and HD026 are not raised:
--          such a lease is left out, so that the others are renewed.
-- Role     howdah_consumer howdah_admin
--
-- It is the heartbeat of a session that holds messages. A lease that a transaction is acknowledging is skipped after
-- 200 ms.
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
            when sqlstate 'HD026' or sqlstate 'HD001' or sqlstate 'HD010' then
                null;
            when lock_not_available then
                return next v_lease.lease;
        end;
    end loop;
end
$$;
