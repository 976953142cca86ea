-- howdah.create_topic(topic, options): create a topic, whose messages go to every subscription.
--
-- Returns  the topic's number (integer).
-- Raises   HD002 it exists already; HD003 bad name; HD004 unknown or wrong option; HD010 called out of a maintenance command; HD023 a wrong selector;
--          HD027 the engine is full.
-- Role     howdah_admin
--
-- options is a JSON object; howdah.topic_options shows every option with its value, and docs/topics.md says what they mean. Subscriptions
-- by wildcard that match the name begin with its first message. A topic named VirtualTopic.X passes its messages on into
-- every queue named Consumer.NAME.VirtualTopic.X.
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
    options := jsonb_strip_nulls(jsonb_build_object('persistent', howdah._policy_for(topic) -> 'persistent')) || options;
    v_topic.id := howdah._add_destination(v_topic);
    -- No rank: a send that looks for a queue passes it by.
    update howdah.destinations d set main_rank = -1 where d.id = v_topic.id;
    insert into howdah.topics (destination_id) values (v_topic.id);
    perform howdah._alter_topic(v_topic.id, options);
    for v_subscription in
        select s.* from howdah.subscriptions s join howdah.destinations d on d.id = s.destination_id
        where d.dropped_at is null and s.topic ~ '[*>]' and howdah._matches(create_topic.topic, s.topic)
    loop
        perform howdah._add_cursors(v_subscription, v_topic.id, howdah._snapshot());
    end loop;
    if topic like 'VirtualTopic.%' then
        insert into howdah.bridges (topic_id, queue_id)
        select v_topic.id, d.id from howdah.destinations d
        where d.kind = 'queue' and d.dropped_at is null and d.name ~ ('^Consumer[.][^.]+[.]' || replace(topic, '.', '[.]') || '$');
    end if;
    perform howdah._note_readers(v_topic.id);
    return v_topic.id;
end
$$;

-- howdah._alter_topic(p_topic_id, p_options): write checked options of a topic.
--
-- Raises   HD004 options contradict each other; HD023 a wrong selector.
-- Role     internal
create or replace function howdah._alter_topic(p_topic_id integer, p_options jsonb) returns void
language plpgsql volatile
as $$
declare
    v_destination howdah.destinations;
    v_old howdah.topics;
    v_new howdah.topics;
begin
    perform howdah._hold_limits();
    select d.* into v_destination from howdah.destinations d where d.id = p_topic_id;
    v_destination.persistent := v_destination.own_persistent;
    v_destination := jsonb_populate_record(v_destination, p_options);
    select t.* into v_old from howdah.topics t where t.destination_id = p_topic_id;
    v_new := jsonb_populate_record(v_old, p_options);
    if v_new.recovery in ('fixed_count', 'fixed_size', 'timed') and v_new.recovery_amount is null then
        v_new.recovery_amount := case v_new.recovery when 'fixed_count' then 100 when 'fixed_size' then 65536 else 60000 end;
    elsif v_new.recovery = 'query' and v_new.recovery_selector is null then
        raise exception using errcode = 'HD004', message = 'option recovery "query" needs the option recovery_selector',
            hint = 'It is a selector, such as "price > 100".';
    end if;
    perform howdah._selector_sql(v_new.recovery_selector);
    update howdah.destinations d
    set own_max_message_bytes = case when p_options ? 'max_message_bytes' then v_destination.max_message_bytes else d.own_max_message_bytes end,
        default_priority = v_destination.default_priority,
        default_time_to_live_ms = v_destination.default_time_to_live_ms,
        deduplication_window_ms = v_destination.deduplication_window_ms, own_persistent = v_destination.persistent, stamp_user = v_destination.stamp_user,
        persistent = v_destination.persistent and (select e.persistent from howdah.engine e), journal_level = v_destination.journal_level,
        journal_level_at = case when d.journal_level <> v_destination.journal_level then howdah.now() else d.journal_level_at end
    where d.id = p_topic_id;
    update howdah.topics t
    set retain_ms = v_new.retain_ms, retain_bytes = v_new.retain_bytes, recovery = v_new.recovery, recovery_amount = v_new.recovery_amount,
        recovery_selector = v_new.recovery_selector, backlog_limit = v_new.backlog_limit, backlog_age_ms = v_new.backlog_age_ms,
        backlog_action = v_new.backlog_action,
        refused_for = case when v_new.backlog_action = 'refuse' then t.refused_for end
    where t.destination_id = p_topic_id;
    perform howdah._copy_grants_of(p_topic_id) where p_options ? 'stamp_user';
    perform howdah._set_room(p_topic_id);
    perform howdah._note_readers(p_topic_id);
end
$$;

-- howdah.alter_topic(topic, options): change options of a topic.
--
-- Raises   HD001 no such topic; HD003 a name is none; HD004 unknown or wrong option; HD010 not allowed; HD023 a wrong selector.
-- Role     howdah_admin
create or replace function howdah.alter_topic(topic text, options jsonb) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    perform howdah._check_options('topic', options);
    perform howdah._alter_topic((howdah._topic(topic, 'admin')).id, options);
end
$$;

-- howdah.topic_options(topic): every option of a topic with its value.
--
-- Returns  a JSON object, as howdah.create_topic takes it.
-- Raises   HD001 no such topic.
-- Role     howdah_admin howdah_producer howdah_consumer howdah_browser howdah_auditor
create or replace function howdah.topic_options(topic text) returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_topic jsonb;
begin
    select to_jsonb(d) || to_jsonb(t) || jsonb_build_object('max_message_bytes', d.own_max_message_bytes, 'persistent', d.own_persistent) into v_topic
    from howdah.destinations d join howdah.topics t on t.destination_id = d.id
    where d.name = topic and d.dropped_at is null;
    if not found then
        raise exception using errcode = 'HD001', message = format('there is no topic %s', coalesce(quote_literal(left(topic, 250)), 'NULL')),
            hint = 'Create it with howdah.create_topic(name), or see howdah.list_topics().';
    end if;
    return (select jsonb_object_agg(k.key, v_topic -> k.key) from howdah._option_kinds() k where k.owner = 'topic');
end
$$;
