-- howdah._store_topic(p_topic, p_options): store a new topic with checked options.
--
-- Returns  its number (integer).
-- Raises   HD002 a destination of that name exists, or all numbers are taken; HD004 the options contradict each other;
--          HD023 the selector is invalid.
-- Role     internal
create or replace function howdah._store_topic(p_topic howdah.destinations, p_options jsonb) returns integer
language plpgsql volatile
as $$
begin
    perform pg_advisory_xact_lock(howdah._lock_key('name', p_topic.name));
    perform howdah._lock_names();
    p_topic.kind := 'topic';
    p_options := jsonb_strip_nulls(jsonb_build_object('persistent', howdah._policy_for(p_topic.name) -> 'persistent'))
        || p_options;
    p_topic.id := howdah._add_destination(p_topic);
    -- Without a rank, a send that looks for a queue skips the topic.
    update howdah.destinations d set main_rank = -1 where d.id = p_topic.id;
    insert into howdah.topics (destination_id) values (p_topic.id);
    perform howdah._alter_topic(p_topic.id, p_options);
    perform howdah._join_readers(p_topic);
    if not p_topic.auto_created then
        perform howdah._record_change('topic', p_topic.name, 'created', null,
            howdah._properties('topic', p_topic.name));
    end if;
    return p_topic.id;
end
$$;
