-- howdah._log_shown(p_event, p_destination, p_actor): whether a caller who does not see the whole log sees an event.
--
-- Returns  boolean: those of the engine as a whole, the caller's own lines, and those of what the caller may receive
--          from or browse.
-- Role     internal
create or replace function howdah._log_shown(p_event text, p_destination text, p_actor text) returns boolean
language sql stable
as $$
    select case when p_destination is null
        then p_event not in ('LOG', 'CONFIG_CHANGED') or p_actor = howdah._caller()
        else exists (select from howdah.destinations d
                     where d.name = p_destination and d.dropped_at is null
                       and (howdah._has_right(d.id, 'receive') or howdah._has_right(d.id, 'browse'))) end
$$;
