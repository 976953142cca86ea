-- howdah._log_limit(p_destination): log that a queue is full and removes messages, at most once a minute.
--
-- Role     internal
create or replace function howdah._log_limit(p_destination howdah.destinations) returns void
language plpgsql volatile
as $$
begin
    if not exists (select from howdah.log_events e
                   where e.destination = p_destination.name
                     and e.event = 'LIMIT_REACHED' and e.at > howdah.now() - interval '1 minute') then
        perform howdah._log_event('LIMIT_REACHED', p_destination.name, jsonb_build_object(
            'limit_behaviour', p_destination.limit_behaviour, 'message_limit', p_destination.message_limit,
            'byte_limit', p_destination.byte_limit));
    end if;
end
$$;
