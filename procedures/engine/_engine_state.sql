-- howdah._engine_state(): whether the engine runs.
--
-- Returns  running, paused, quiesced or stopped (text).
-- Role     internal
--
-- A restart of the server ends a stop, whether or not anybody has called since (howdah._begin_again).
create or replace function howdah._engine_state() returns text
language sql stable
as $$
    select case when e.stopped_boot <> pg_postmaster_start_time() then 'running' else e.state end from howdah.engine e
$$;
