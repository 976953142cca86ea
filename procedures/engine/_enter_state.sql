-- howdah._enter_state(p_from, p_state, p_act, p_reason): change the state of the engine, and record who did it.
--
-- Returns  boolean; false if it is in none of the states p_from, and then nothing is changed.
-- Raises   HD005 the transaction is not READ COMMITTED; HD010 called from a maintenance command.
-- Role     internal
--
-- It waits for queues and topics that are being created or altered, as howdah.alter_engine does. Both also wait for the
-- transaction with the first receive after a restart of the server (howdah._sweep_lost).
create or replace function howdah._enter_state(
    p_from text[], p_state text, p_act text, p_reason text
) returns boolean
language plpgsql volatile
as $$
begin
    perform howdah._refuse_maintenance();
    if howdah._has_old_snapshot() then
        raise exception using errcode = 'HD005', message = 'changing the state of the engine needs READ COMMITTED',
            hint = 'An older snapshot does not show what others have just created.';
    end if;
    perform from howdah.engine e for update;
    if howdah._engine_state() <> all (p_from) then
        return false;
    end if;
    update howdah.engine e
    set state = p_state, state_at = howdah.now(), state_by = howdah._caller(),
        state_xid = pg_current_xact_id()::text::bigint,
        stopped_boot = case p_state when 'stopped' then pg_postmaster_start_time() end;
    perform howdah._pause_destinations();
    perform howdah._log_event('ENGINE_STATE', null, jsonb_build_object('act', p_act, 'reason', p_reason),
        p_text => 'engine ' || p_state);
    perform howdah._record_act(p_act, null, '{}', null, p_reason);
    return true;
end
$$;
