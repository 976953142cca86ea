-- howdah.list_bridges(topic): list the queues that get a topic's messages.
--
-- Returns  one row per queue.
-- Raises   HD001 no such topic; HD010 not allowed.
-- Role     howdah_admin howdah_browser howdah_auditor
create or replace function howdah.list_bridges(topic text) returns table (
    queue text, selector text, transformation text
)
language plpgsql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_id integer := (howdah._topic(topic, 'browse')).id;
begin
    return query
    select d.name, b.selector, b.transformation from howdah.bridges b join howdah.destinations d on d.id = b.queue_id
    where b.topic_id = v_id order by 1;
end
$$;
