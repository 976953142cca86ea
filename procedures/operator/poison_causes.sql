-- howdah.poison_causes(queue, since, max_causes, max_failures): list why deliveries fail: the latest failures grouped
-- by fingerprint.
--
-- Returns  one row per fingerprint, the one with the most messages first. It has how many failures of how many messages
--          there were, and the times of the first and last. It also has how many of these messages are dead now whose
--          last failure this was, and the newest failure as a sample. Each row also says how far the call looked:
--          looked is the number of failures, looked_from the time of the first of them. complete: these were all
--          failures since then that are on record, and all dead messages were looked at.
-- Raises   HD001 no such queue; HD005 max_causes is not 1 to 10000, or max_failures not 1 to 10000000; HD010 not
--          allowed; HD037 on a standby.
-- Role     howdah_browser howdah_consumer howdah_admin howdah_auditor
--
-- queue is where the deliveries failed (NULL: every queue that the caller may browse). Only failures recorded from
-- since on are counted; dead is as of now. howdah.replay(queue, fingerprint => …) replays exactly the messages that
-- dead counts, if complete. A call reads the last max_failures failures, of all queues unless one is named, and as many
-- dead messages.
create or replace function howdah.poison_causes(
    queue text default null, since timestamptz default null, max_causes integer default 20,
    max_failures integer default 100000
)
returns table (
    fingerprint text, incidents bigint, messages bigint, dead bigint, first_at timestamptz, last_at timestamptz,
    error_class text, sqlstate text, sample_text text, sample_queue text, sample_message bigint, sample_incident bigint,
    looked bigint, looked_from timestamptz, complete boolean
)
language plpgsql stable security definer set search_path = pg_catalog, howdah,
    pg_temp set plan_cache_mode = force_custom_plan
    set enable_seqscan = off set jit = off set work_mem = '32MB'
as $$
declare
    v_id integer;
begin
    perform howdah._check_all_here();
    if max_causes is null or max_causes not between 1 and 10000 then
        raise exception using errcode = 'HD005',
            message = format('max_causes must be 1 to 10000, not %s', coalesce(max_causes::text, 'NULL'));
    end if;
    if max_failures is null or max_failures not between 1 and 10000000 then
        raise exception using errcode = 'HD005',
            message = format('max_failures must be 1 to 10000000, not %s', coalesce(max_failures::text, 'NULL'));
    end if;
    if queue is not null then
        v_id := (howdah._destination(queue, 'browse')).id;
    end if;
    return query
    with latest as materialized (  -- hashes of fingerprints, because numbers are grouped faster than texts
        select f.incident_id, f.message_id, f.destination_id, f.recorded_at,
            hashtextextended(f.fingerprint, 0) as cause
        from howdah._latest_failures(v_id, max_failures) f
    ), readable as materialized (
        select f.destination_id as id from (select distinct l.destination_id from latest l offset 0) f
        where howdah._has_right(f.destination_id, 'browse')
    ), pair as materialized (
        select l.message_id, l.cause, count(r.id) as incidents, min(l.recorded_at) filter (where r.id > 0) as first_at,
            max(l.recorded_at) filter (where r.id > 0) as last_at,
            max(l.incident_id) filter (where r.id > 0) as sample, max(l.incident_id) as last
        from latest l
        left join readable r on r.id = l.destination_id and (since is null or l.recorded_at >= since)
        group by l.message_id, l.cause
    ), cause as (
        select p.cause, sum(p.incidents)::bigint as incidents, count(p.sample) as messages,
            min(p.first_at) as first_at, max(p.last_at) as last_at, max(p.sample) as sample
        from pair p group by p.cause
    ), died as materialized (
        select m.message_id, m.origin_id from howdah._latest_dead(max_failures) m
    ), dead as (
        select x.cause, count(*) as messages
        from (
            select distinct on (p.message_id) m.origin_id, p.cause
            from died m join pair p on p.message_id = m.message_id
            order by p.message_id, p.last desc
        ) x
        where x.origin_id in (select r.id from readable r) and (v_id is null or x.origin_id = v_id)
        group by x.cause
    ), extent as (
        select count(*) as looked, min(l.recorded_at) as looked_from,
            (count(*) < max_failures or coalesce(min(l.recorded_at) < since, false))
                and (select count(*) from died) < max_failures as complete
        from latest l
    )
    select s.fingerprint, c.incidents, c.messages, coalesce(x.messages, 0), c.first_at, c.last_at, s.error_class,
        s.sqlstate, s.error_text, d.name, s.message_id, s.incident_id, e.looked, e.looked_from, e.complete
    from cause c
    cross join extent e
    join howdah.poison_details s on s.incident_id = c.sample
    join howdah.destinations d on d.id = s.destination_id
    left join dead x on x.cause = c.cause
    order by c.messages desc, c.incidents desc, c.sample desc
    limit max_causes;
end
$$;
