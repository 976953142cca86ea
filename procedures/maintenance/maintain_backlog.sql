-- howdah.maintain_backlog(lock_epoch): count the queues that are too long to be counted at each look.
--
-- Returns  the number of such queues (bigint).
-- Raises   HD014 the maintenance lock is not held with this epoch.
-- Role     howdah_consumer howdah_admin
--
-- A queue gets a figure when it holds over 100,000 messages and loses it when it holds fewer.
-- lock_epoch NULL: run by hand.
create or replace function howdah.maintain_backlog(lock_epoch bigint default null) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_large bigint;
begin
    if lock_epoch is not null then
        perform howdah._fence('maintenance', lock_epoch);
    end if;
    perform pg_advisory_xact_lock(1213154369, 3);
    delete from howdah.backlog_figures f;
    insert into howdah.backlog_figures (destination_id, live, parked, oldest_sent_at, counted_at)
    select d.id, c.live, c.parked, c.oldest_sent_at, howdah.now()
    from howdah.destinations d cross join lateral howdah._count(d.id) c
    where d.dropped_at is null and c.live + c.parked > 100000;
    get diagnostics v_large = row_count;
    delete from howdah.dead_figures f;
    insert into howdah.dead_figures (destination_id, origin_id, dead)
    select f.destination_id, c.origin_id, c.dead
    from howdah.backlog_figures f cross join lateral howdah._count_dead(f.destination_id) c;
    return v_large;
end
$$;
