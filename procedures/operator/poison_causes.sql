-- howdah.poison_causes(queue, since, max_causes): list why deliveries fail: the failures grouped by fingerprint.
--
-- Returns  one row per fingerprint, the one with the most messages first. It has how many failures of how many messages
--          there were, and the times of the first and last. It also has how many messages are dead now whose last
--          failure this was, and the newest failure as a sample.
-- Raises   HD001 no such queue; HD005 max_causes is not 1 to 10000; HD010 not allowed; HD037 on a standby.
-- Role     howdah_browser howdah_consumer howdah_admin
--
-- queue is where the deliveries failed (NULL: every queue that the caller may browse). Only failures recorded from
-- since on are counted; dead is as of now. howdah.replay(queue, fingerprint => …) replays exactly the messages that
-- dead counts.
create or replace function howdah.poison_causes(
    queue text default null, since timestamptz default null, max_causes integer default 20
)
returns table (
    fingerprint text, incidents bigint, messages bigint, dead bigint, first_at timestamptz, last_at timestamptz,
    error_class text, sqlstate text, sample_text text, sample_queue text, sample_message bigint, sample_incident bigint
)
language plpgsql stable security definer set search_path = pg_catalog, howdah,
    pg_temp set plan_cache_mode = force_custom_plan
    set enable_seqscan = off set jit = off
as $$
declare
    v_id integer;
begin
    perform howdah._check_all_here();
    if max_causes is null or max_causes not between 1 and 10000 then
        raise exception using errcode = 'HD005',
            message = format('max_causes must be 1 to 10000, not %s', coalesce(max_causes::text, 'NULL'));
    end if;
    if queue is not null then
        v_id := (howdah._destination(queue, 'browse')).id;
    end if;
    return query
    with readable as materialized (
        select d.id from howdah.destinations d
        where (v_id is null or d.id = v_id)
          and howdah._has_right(d.id, 'browse')
    ), cause as (
        select p.fingerprint, count(*) as incidents, count(distinct p.message_id) as messages,
        min(p.recorded_at) as first_at,
            max(p.recorded_at) as last_at, max(p.incident_id) as sample
        from howdah.poison_details p
        where p.destination_id in (select r.id from readable r) and (since is null or p.recorded_at >= since)
        group by p.fingerprint
    ), dead as (
        select m.fingerprint, count(*) as messages
        from howdah.destinations e
        cross join lateral howdah._dead_messages(e.id, v_id, null, null, null, null, null, null, null) m
        where e.id in (select x.x from howdah._exception_destinations() x(x)) and e.dropped_at is null
          and m.origin_id in (select r.id from readable r)
        group by m.fingerprint
    )
    select c.fingerprint, c.incidents, c.messages, coalesce(x.messages, 0), c.first_at, c.last_at, s.error_class,
        s.sqlstate, s.error_text, d.name, s.message_id, s.incident_id
    from cause c
    join howdah.poison_details s on s.incident_id = c.sample
    join howdah.destinations d on d.id = s.destination_id
    left join dead x on x.fingerprint = c.fingerprint
    order by c.messages desc, c.incidents desc, c.sample desc
    limit max_causes;
end
$$;
