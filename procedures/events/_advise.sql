-- howdah._advise(p_event, p_queue, p_facts): report an event to administrators in the queue _SYSTEM.Advisory, and log
-- it.
--
-- Role     internal
--
-- Events about the advisory queue itself are only logged, and so is everything if there is no such queue. The message
-- expires after the queue's seven days.
create or replace function howdah._advise(p_event text, p_queue text, p_facts jsonb) returns void
language plpgsql volatile
as $$
declare
    v_advisory howdah.destinations;
    v_message howdah.msgs;
begin
    perform howdah._log_event(p_event, p_queue, p_facts);
    select d.* into v_advisory from howdah.destinations d where d.name = '_SYSTEM.Advisory' and d.dropped_at is null;
    if v_advisory.id is null or p_queue = v_advisory.name then
        return;
    end if;
    v_message := howdah._new_message(v_advisory, convert_to(
        (jsonb_build_object('event', p_event, 'queue', p_queue, 'at', howdah._utc(howdah.now())) || p_facts)::text,
        'UTF8'), 'application/json', p_event);
    perform howdah._put(v_message, not v_advisory.persistent, false);
    if v_advisory.journal_level = 'full' then
        perform howdah._journal_one_sent(v_advisory, v_message, v_message.body, not v_advisory.persistent, false);
    end if;
end
$$;
