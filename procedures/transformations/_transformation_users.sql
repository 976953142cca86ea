-- howdah._transformation_users(): the bridges, links and subscriptions that have a transformation.
--
-- Returns  a row for each: transformation, kind (bridge, link, subscription) and used_by, its name.
-- Role     internal
create or replace function howdah._transformation_users()
returns table (transformation text, kind text, used_by text)
language sql stable
as $$
    select b.transformation, 'bridge', concat_ws(' ', t.name, q.name)
    from howdah.bridges b join howdah.destinations t on t.id = b.topic_id
    join howdah.destinations q on q.id = b.queue_id where b.transformation is not null
    union all
    select l.transformation, 'link', l.name from howdah.links l where l.transformation is not null
    union all
    select s.transformation, 'subscription', d.name
    from howdah.subscriptions s join howdah.destinations d on d.id = s.destination_id
    where s.transformation is not null and d.dropped_at is null
$$;
