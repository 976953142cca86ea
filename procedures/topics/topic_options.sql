-- howdah.topic_options(topic): all options of a topic with their values.
--
-- Returns  a JSON object in the form that howdah.create_topic takes.
-- Raises   HD001 no such topic, or the caller has no right to it; HD010 called from a maintenance command.
-- Role     howdah_admin howdah_producer howdah_consumer howdah_browser howdah_auditor
create or replace function howdah.topic_options(topic text) returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_topic jsonb;
begin
    select to_jsonb(d) || to_jsonb(t) || jsonb_build_object('max_message_bytes', d.own_max_message_bytes, 'persistent',
        d.own_persistent) into v_topic
    from howdah.destinations d join howdah.topics t on t.destination_id = d.id
    where d.name = topic and d.dropped_at is null and (howdah._sees_all() or howdah._sees(d.id));
    if not found then
        raise exception using errcode = 'HD001', message = format('there is no topic %s',
            coalesce(quote_literal(left(topic, 250)), 'NULL')),
            hint = 'Create it with howdah.create_topic(name), or see howdah.list_topics().';
    end if;
    return (select jsonb_object_agg(k.key, v_topic -> k.key) from howdah._option_kinds() k where k.owner = 'topic');
end
$$;
