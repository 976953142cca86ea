-- howdah._log_event(p_event, p_destination, p_details, p_level, p_text): log an event, if the engine's log_level
-- selects it.
--
-- Raises   HD010 called from a maintenance command.
-- Role     internal
--
-- Level and text are those of howdah._log_kinds unless given. The event is logged once the caller's transaction has
-- committed. If it rolls back, there was no such event.
create or replace function howdah._log_event(
    p_event text, p_destination text, p_details jsonb default '{}', p_level text default null,
    p_text text default null
) returns void
language plpgsql volatile
as $$
begin
    perform howdah._refuse_maintenance();
    insert into howdah.log_events (transaction, at, level, event, destination, actor, text, details)
    select pg_current_xact_id()::text::bigint, howdah.now(), coalesce(p_level, k.level), p_event, p_destination,
        howdah._caller(), coalesce(p_text, k.text), jsonb_strip_nulls(p_details)
    from howdah.engine e
    left join howdah._log_kinds() k on k.event = p_event
    where howdah._log_severity(coalesce(p_level, k.level)) <= howdah._log_severity(e.log_level);
end
$$;
