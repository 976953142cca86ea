-- howdah._join_readers(p_topic): give a new topic the wildcard subscriptions and virtual topic's queues that match its
-- name.
--
-- Role     internal
create or replace function howdah._join_readers(p_topic howdah.destinations) returns void
language plpgsql volatile
as $$
declare
    v_subscription howdah.subscriptions;
begin
    for v_subscription in
        select s.* from howdah.subscriptions s join howdah.destinations d on d.id = s.destination_id
        where d.dropped_at is null and s.topic ~ '[*>]' and howdah._matches_wildcard(p_topic.name, s.topic)
    loop
        perform howdah._add_cursors(v_subscription, p_topic.id, howdah._snapshot());
    end loop;
    if p_topic.name like 'VirtualTopic.%' then
        insert into howdah.bridges (topic_id, queue_id)
        select p_topic.id, d.id from howdah.destinations d
        where d.kind = 'queue' and d.dropped_at is null
          and d.name ~ ('^Consumer[.][^.]+[.]' || replace(p_topic.name, '.', '[.]') || '$');
    end if;
    perform howdah._note_readers(p_topic.id);
end
$$;
