-- howdah.list_poison_queues(fingerprint): list where dead messages lie: exception destinations, by the cause of death.
--
-- Returns  one row for each exception destination and fingerprint, the one with the most messages first. It has how
--          many are dead there now whose last failure this was, and when the first and the last of them died.
--          last_fingerprint is NULL for messages that died without a failure.
-- Raises   HD010 called from a maintenance command; HD037 on a standby.
-- Role     howdah_browser howdah_consumer howdah_admin
--
-- fingerprint: of this cause alone (NULL: all). Destinations that the caller may not browse are left out.
-- howdah.list_poison(exception_queue, fingerprint => …) shows exactly the messages that dead counts.
create or replace function howdah.list_poison_queues(fingerprint text default null)
returns table (
    exception_queue text, last_fingerprint text, dead bigint, first_dead_at timestamptz, last_dead_at timestamptz
)
language plpgsql stable security definer set search_path = pg_catalog, howdah,
    pg_temp set plan_cache_mode = force_custom_plan
    set enable_seqscan = off set jit = off
as $$
begin
    perform howdah._check_all_here();
    return query
    with readable as materialized (
        select e.id, e.name from howdah.destinations e
        where e.id in (select x.x from howdah._exception_destinations() x(x)) and e.dropped_at is null
          and howdah._has_right(e.id, 'browse')
    )
    select r.name, m.fingerprint, count(*), min(m.dead_at), max(m.dead_at)
    from readable r
    cross join lateral howdah._dead_messages(r.id, null, null, list_poison_queues.fingerprint, null, null, null, null,
        null) m
    group by r.name, m.fingerprint
    order by count(*) desc, r.name, m.fingerprint;
end
$$;
