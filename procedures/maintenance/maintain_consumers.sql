-- howdah.maintain_consumers(lock_epoch): close dead consumers, and delete selectors that nobody used for a day.
--
-- Returns  how many of both (bigint).
-- Raises   HD014 the maintenance lock is not held with this epoch.
-- Role     howdah_consumer howdah_admin
--
-- Nothing waits for it: consumers themselves look for dead ones before them. lock_epoch NULL: run by hand.
create or replace function howdah.maintain_consumers(lock_epoch bigint default null) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_count bigint;
begin
    if lock_epoch is not null then
        perform howdah._fence('maintenance', lock_epoch);
    end if;
    select coalesce(sum(howdah._close_dead(d.destination_id, howdah.now())), 0) into v_count
    from (select distinct c.destination_id from howdah.consumers c) d;
    -- of queues that were dropped
    delete from howdah.consumer_leases l where not exists (select from howdah.consumers c where c.id = l.consumer_id);
    return v_count + howdah._forget_selections();
end
$$;
