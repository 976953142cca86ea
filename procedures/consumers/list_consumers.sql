-- howdah.list_consumers(queue, after, max_rows): list the open consumers of a queue, or of all that the caller may
-- browse, in the order in which they were opened.
--
-- Returns  one row per consumer; active: it gets messages now; groups: how many sticky groups it owns; instance: its
--          home.
-- Raises   HD001 no such queue; HD005 max_rows is not 1 to 10000; HD010 not allowed.
-- Role     howdah_admin howdah_consumer howdah_browser howdah_auditor
--
-- max_rows NULL: all. For the next page, pass the last consumer as after.
create or replace function howdah.list_consumers(
    queue text default null, after bigint default null, max_rows integer default null
) returns table (
    consumer bigint, active boolean, exclusive boolean, priority integer, own_session boolean, groups bigint,
    opened_at timestamptz, opened_by text, seen_at timestamptz, instance text, queue_name text
)
language plpgsql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_id integer := case when queue is not null then (howdah._destination(queue, 'browse')).id end;
begin
    return query
    with shown as materialized (
        select c.*, d.name from howdah.consumers c join howdah.destinations d on d.id = c.destination_id
        where (after is null or c.id > after) and (c.destination_id = v_id
            or v_id is null and not d.name ^@ '_TEMP.' and howdah._has_right(d.id, 'browse'))
        order by c.id limit howdah._most_rows(max_rows)
    ), turn as materialized (
        select d.id, howdah._active_consumer(d) as consumer_id from howdah.destinations d
        where d.id in (select s.destination_id from shown s)
    )
    select s.id::bigint, coalesce(s.id = t.consumer_id, true), s.exclusive, s.priority, s.own_session,
        (select count(*) from howdah.group_owners o where o.consumer_id = s.id), s.opened_at, s.opened_by, s.seen_at,
        i.name, s.name
    from shown s
    join turn t on t.id = s.destination_id
    left join howdah.instances i on i.instance_id = s.instance_id
    order by s.id;
end
$$;
