-- howdah.maintain_backlog(lock_epoch): count the queues that are too long to be counted at each look.
--
-- Returns  the number of such queues (bigint).
-- Raises   HD014 the maintenance lock is not held with this epoch.
-- Role     howdah_consumer howdah_admin
--
-- A queue gets a figure when it holds over 100,000 messages in one place and loses it when it holds fewer.
-- lock_epoch NULL: run by hand.
create or replace function howdah.maintain_backlog(lock_epoch bigint default null) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_large integer[];
begin
    if lock_epoch is not null then
        perform howdah._fence('maintenance', lock_epoch);
    end if;
    perform pg_advisory_xact_lock(1213154369, 3);
    delete from howdah.backlog_figures f;
    select array_agg(d.id) into v_large
    from howdah.destinations d cross join lateral howdah._backlog(d.id) b
    where d.dropped_at is null and not b.exact;
    insert into howdah.backlog_figures (destination_id, live, parked, oldest_sent_at, counted_at)
    select l.id, coalesce(m.live, 0) + coalesce(n.live, 0), coalesce(p.parked, 0), least(m.oldest, n.oldest), howdah.now()
    from unnest(v_large) l(id)
    left join (select c.destination_id, count(*) as live, min(c.sent_at) as oldest from howdah.msgs c
               where c.destination_id = any (v_large) group by c.destination_id) m on m.destination_id = l.id
    left join (select c.destination_id, count(*) as live, min(c.sent_at) as oldest from howdah.msgs_nonpersistent c
               where c.destination_id = any (v_large) and c.boot = pg_postmaster_start_time()
               group by c.destination_id) n on n.destination_id = l.id
    left join (select c.destination_id, count(*) as parked from howdah.parked c
               where c.destination_id = any (v_large) group by c.destination_id) p on p.destination_id = l.id;
    delete from howdah.dead_figures f;
    insert into howdah.dead_figures (destination_id, origin_id, dead)
    select l.id, c.origin_id, c.dead from unnest(v_large) l(id) cross join lateral howdah._count_dead(l.id) c;
    return coalesce(cardinality(v_large), 0);
end
$$;
