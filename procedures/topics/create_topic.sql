-- howdah.create_topic(topic, options): create a topic, whose messages go to every subscription.
--
-- Returns  the topic's number (integer).
-- Raises   HD002 it exists already; HD003 bad name; HD004 unknown or wrong option; HD010 called from a maintenance
--          command; HD023 the selector is invalid; HD027 the engine is full; HD045 the master of changes is away.
-- Role     howdah_admin
--
-- options is a JSON object. howdah.topic_options lists every option with its value, and docs/topics.md says what they
-- mean.
--
-- Wildcard subscriptions that match the name start with its first message. A topic named VirtualTopic.X sends its
-- messages on to every queue named Consumer.NAME.VirtualTopic.X.
create or replace function howdah.create_topic(topic text, options jsonb default '{}') returns integer
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_topic howdah.destinations;
    v_subscription howdah.subscriptions;
begin
    perform howdah._check_name(topic);
    perform howdah._check_options('topic', options);
    perform howdah._check_creation();
    perform howdah._lock_names();
    v_topic := howdah._new_destination(topic);
    v_topic.kind := 'topic';
    options := jsonb_strip_nulls(jsonb_build_object('persistent', howdah._policy_for(topic) -> 'persistent'))
        || options;
    v_topic.id := howdah._add_destination(v_topic);
    -- Without a rank, a send that looks for a queue skips the topic.
    update howdah.destinations d set main_rank = -1 where d.id = v_topic.id;
    insert into howdah.topics (destination_id) values (v_topic.id);
    perform howdah._alter_topic(v_topic.id, options);
    for v_subscription in
        select s.* from howdah.subscriptions s join howdah.destinations d on d.id = s.destination_id
        where d.dropped_at is null and s.topic ~ '[*>]' and howdah._matches_wildcard(create_topic.topic, s.topic)
    loop
        perform howdah._add_cursors(v_subscription, v_topic.id, howdah._snapshot());
    end loop;
    if topic like 'VirtualTopic.%' then
        insert into howdah.bridges (topic_id, queue_id)
        select v_topic.id, d.id from howdah.destinations d
        where d.kind = 'queue' and d.dropped_at is null
          and d.name ~ ('^Consumer[.][^.]+[.]' || replace(topic, '.', '[.]') || '$');
    end if;
    perform howdah._note_readers(v_topic.id);
    perform howdah._record_change('topic', topic, 'created', null, howdah._properties('topic', topic));
    return v_topic.id;
end
$$;
