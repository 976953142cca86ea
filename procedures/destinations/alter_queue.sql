-- howdah.alter_queue(queue, options): change options of a queue; the next call that needs them sees them.
--
-- Raises   HD001 no such queue; HD003 bad exception_queue; HD004 unknown or wrong option; HD010 not allowed;
--          HD012 the queue belongs to the engine.
-- Role     howdah_admin
create or replace function howdah.alter_queue(queue text, options jsonb) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_new howdah.destinations;
begin
    perform from howdah.destinations d where d.name = queue and d.dropped_at is null for no key update;
    v_new := howdah._with_options(howdah._own_queue(queue), options);
    update howdah.destinations d
    set max_failed_deliveries = v_new.max_failed_deliveries, exception_mode = v_new.exception_mode,
        exception_queue = v_new.exception_queue, redelivery_delay_ms = v_new.redelivery_delay_ms,
        blocked_retry_ms = v_new.blocked_retry_ms, max_message_bytes = v_new.max_message_bytes,
        default_priority = v_new.default_priority, default_time_to_live_ms = v_new.default_time_to_live_ms,
        journal_level = v_new.journal_level, journal_level_at = v_new.journal_level_at
    where d.id = v_new.id;
    perform howdah._open_lane(v_new.id, 9 - v_new.default_priority, 2);
end
$$;

-- howdah._own_queue(p_name): a queue that the caller may administer and that is not the engine's own.
--
-- Returns  howdah.destinations.
-- Raises   HD001 no such queue; HD010 not allowed; HD012 the queue belongs to the engine.
-- Role     internal
create or replace function howdah._own_queue(p_name text) returns howdah.destinations
language plpgsql volatile
as $$
declare
    v_destination howdah.destinations := howdah._destination(p_name, 'admin');
begin
    if v_destination.is_system then
        raise exception using errcode = 'HD012', message = format('queue %s belongs to the engine', quote_literal(p_name)),
            hint = 'The system exception destination can be read, replayed and purged, but neither changed nor dropped.';
    end if;
    return v_destination;
end
$$;
