-- howdah.find_names(part, max_rows): find what the caller sees by a part of its name, in capitals or not.
--
-- Returns  up to max_rows rows of each kind, by kind and name: queue, topic, subscription, schedule, worker, link or
--          instance. queue_name: the topic of a subscription, the queue of a schedule, the source of a link.
-- Raises   HD005 max_rows is not 1 to 10000; HD010 called from a maintenance command.
-- Role     howdah_browser howdah_consumer howdah_admin howdah_auditor
create or replace function howdah.find_names(part text, max_rows integer default 100) returns table (
    kind text, name text, queue_name text
)
language plpgsql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_all constant boolean := howdah._sees_all();
    v_part constant text := lower(coalesce(part, ''));
begin
    return query
    with known as (
        select d.kind, d.name, s.topic as place, d.id
        from howdah.destinations d left join howdah.subscriptions s on s.destination_id = d.id
        where d.dropped_at is null and not d.name ^@ '_TEMP.'
        union all
        select 'schedule', coalesce(s.name, s.id::text), d.name, d.id
        from howdah.schedules s join howdah.destinations d on d.id = s.destination_id
        where s.state in ('active', 'paused', 'failed') and d.dropped_at is null
        union all
        select 'link', l.name::text, d.name, d.id
        from howdah.links l join howdah.destinations d on d.id = l.source_id
        union all
        select 'worker', w.name, null, null from howdah.workers w
        union all
        select 'instance', i.name, null, null from howdah.instances i
    )
    select f.kind, f.name, f.place
    from (
        select k.kind, k.name, k.place, row_number() over (partition by k.kind order by k.name, k.place) as number
        from known k
        where strpos(lower(k.name), v_part) > 0 and (k.id is null or v_all or howdah._sees(k.id))
    ) f
    where f.number <= coalesce(howdah._most_rows(max_rows), 10000)
    order by f.kind, f.name, f.place;
end
$$;
