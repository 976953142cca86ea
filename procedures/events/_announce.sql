-- howdah._announce(p_event, p_queue, p_facts): notify the channel howdah_events of an event when the transaction
-- commits.
--
-- Role     internal
--
-- Any role can listen, so p_facts contain no text of an error, which may quote the message. They stay below the 8,000
-- bytes of a payload.
create or replace function howdah._announce(p_event text, p_queue text, p_facts jsonb) returns void
language sql volatile
as $$ select pg_notify('howdah_events', (jsonb_build_object('event', p_event, 'queue', p_queue, 'at',
    howdah._utc(howdah.now())) || p_facts)::text) $$;
