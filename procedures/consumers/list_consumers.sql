-- howdah.list_consumers(queue): list the open consumers of a queue, in the order in which they were opened.
--
-- Returns  one row per consumer; active: it gets messages now; groups: how many sticky groups it owns; instance: its
--          home.
-- Raises   HD001 no such queue; HD010 not allowed.
-- Role     howdah_admin howdah_consumer howdah_browser howdah_auditor
create or replace function howdah.list_consumers(queue text) returns table (
    consumer bigint, active boolean, exclusive boolean, priority integer, own_session boolean, groups bigint,
    opened_at timestamptz, opened_by text, seen_at timestamptz, instance text
)
language plpgsql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_destination howdah.destinations := howdah._destination(queue, 'browse');
    v_active integer := howdah._active_consumer(v_destination);
begin
    return query
    select c.id::bigint, coalesce(c.id = v_active, true),
        c.exclusive, c.priority, c.own_session,
        (select count(*) from howdah.group_owners o where o.consumer_id = c.id), c.opened_at, c.opened_by, c.seen_at,
        i.name
    from howdah.consumers c left join howdah.instances i on i.instance_id = c.instance_id
    where c.destination_id = v_destination.id
    order by c.id;
end
$$;
