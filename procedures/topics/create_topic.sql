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
begin
    perform howdah._check_name(topic);
    perform howdah._check_options('topic', options);
    perform howdah._check_may_create('topic', topic);
    perform howdah._check_creation();
    return howdah._store_topic(howdah._new_destination(topic), options);
end
$$;
