-- howdah._log_change(p_change): a change of the configuration as an event of the log.
--
-- Returns  a row of howdah.log_events.
-- Role     internal
create or replace function howdah._log_change(p_change howdah.config_changes) returns howdah.log_events
language sql stable
as $$
    select row(p_change.change_id, p_change.transaction, p_change.at, 'INFO', 'CONFIG_CHANGED',
        case when p_change.kind in ('queue', 'topic', 'subscription') then p_change.name end, p_change.actor,
        replace(p_change.kind, '_', ' ') || ' ' || p_change.act, jsonb_strip_nulls(jsonb_build_object(
        'name', p_change.name, 'change_id', p_change.change_id, 'reason', p_change.reason,
        'undoes', p_change.undoes)))::howdah.log_events
$$;
