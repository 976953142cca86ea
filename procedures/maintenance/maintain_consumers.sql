-- howdah.maintain_consumers(lock_epoch): forget consumers that are gone, and selectors that nobody used for a day.
--
-- Returns  how many of both (bigint).
-- Raises   HD014 the maintenance lock is not held with this epoch.
-- Role     howdah_consumer howdah_admin
--
-- Nothing waits for it: consumers look for dead ones before them themselves. lock_epoch NULL: run by hand.
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
    delete from howdah.consumer_leases l where not exists (select from howdah.consumers c where c.id = l.consumer_id);  -- of queues that were dropped
    return v_count + howdah._forget_selections();
end
$$;

-- howdah._forget_selections(): forget selectors that nobody used for a day, with their hints.
--
-- Returns  how many (bigint).
-- Role     internal
--
-- One that a transaction still uses is left for the next time.
create or replace function howdah._forget_selections() returns bigint
language plpgsql volatile set lock_timeout = '50ms'
as $$
declare
    v_row record;
    v_count bigint := 0;
begin
    for v_row in
        delete from howdah.selections s
        where s.used_at < howdah.now() - interval '24 hours' or exists (select from howdah.destinations d where d.id = s.destination_id and d.dropped_at is not null)
        returning s.head, s.search
    loop
        if v_row.head is not null then
            execute format('drop sequence %s, %s', v_row.head, v_row.search);
        end if;
        v_count := v_count + 1;
    end loop;
    return v_count;
exception when lock_not_available then
    return 0;
end
$$;
