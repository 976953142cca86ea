-- howdah.list_poison_queues(fingerprint, origin, max_dead): list where dead messages lie: exception destinations, by
-- the cause of death.
--
-- Returns  one row for each exception destination and fingerprint, the one with the most messages first. It has how
--          many are dead there now whose last failure this was, and when the first and the last of them died.
--          last_fingerprint is NULL for messages that died without a failure. Each row also says how far the call
--          looked: looked is the number of dead messages, and complete says whether these were all. first_position is
--          the least position of those that dead counts, so that list_poison may begin there.
-- Raises   HD001 no such queue; HD005 max_dead is not 1 to 10000000; HD010 called from a maintenance command; HD037 on
--          a standby.
-- Role     howdah_browser howdah_consumer howdah_admin howdah_auditor
--
-- fingerprint: of this cause alone (NULL: all). origin: that died in this queue (NULL: in any). Destinations that the
-- caller may not browse are left out. If complete, howdah.list_poison(exception_queue, origin, fingerprint => …) shows
-- exactly the messages that dead counts. A call looks at the last max_dead dead messages.
create or replace function howdah.list_poison_queues(
    fingerprint text default null, origin text default null, max_dead integer default 100000
)
returns table (
    exception_queue text, last_fingerprint text, dead bigint, first_dead_at timestamptz, last_dead_at timestamptz,
    first_position bigint, looked bigint, complete boolean
)
language plpgsql stable security definer set search_path = pg_catalog, howdah,
    pg_temp set plan_cache_mode = force_custom_plan
    set enable_seqscan = off set jit = off
as $$
declare
    v_origin_id integer := howdah._origin_id(origin);
begin
    perform howdah._check_all_here();
    if max_dead is null or max_dead not between 1 and 10000000 then
        raise exception using errcode = 'HD005',
            message = format('max_dead must be 1 to 10000000, not %s', coalesce(max_dead::text, 'NULL'));
    end if;
    return query
    with died as materialized (
        select m.* from howdah._latest_dead(max_dead) m
    ), readable as materialized (
        select e.id, e.name from (select distinct x.destination_id from died x offset 0) f
        join howdah.destinations e on e.id = f.destination_id
        where howdah._has_right(e.id, 'browse')
    )
    select r.name, i.fingerprint, count(*), min(m.dead_at), max(m.dead_at), min(m.seq), l.looked, l.looked < max_dead
    from died m
    cross join (select count(*) as looked from died) l
    join readable r on r.id = m.destination_id
    cross join lateral (select max(f.incident_id + 0) as last from howdah.poison_details f
        where f.message_id = m.message_id) c
    left join howdah.poison_details i on i.incident_id = c.last
    where (v_origin_id is null or m.origin_id = v_origin_id)
      and (list_poison_queues.fingerprint is null or i.fingerprint = list_poison_queues.fingerprint)
    group by r.name, i.fingerprint, l.looked
    order by count(*) desc, r.name, i.fingerprint;
end
$$;
