-- howdah._begin_again(): remove the marks of a stop that a restart of the server has ended.
--
-- Role     internal
--
-- The first caller after the restart does it, in its own transaction. Nobody waits for it, because the others see the
-- engine running already. Earlier non-persistent messages are never delivered, and howdah._sweep_lost removes them.
create or replace function howdah._begin_again() returns void
language plpgsql volatile
as $$
begin
    if not exists (select from howdah.engine e where e.stopped_boot <> pg_postmaster_start_time())
       or not howdah._try_latch('lost') then
        return;
    end if;
    perform howdah._sweep_lost();
    update howdah.engine e
    set state = 'running', state_at = howdah.now(), state_by = null,
        state_xid = pg_current_xact_id()::text::bigint, stopped_boot = null
    where e.stopped_boot <> pg_postmaster_start_time();
    perform howdah._log_event('ENGINE_STATE', null, '{"reason": "server restarted"}', p_text => 'engine running');
    perform howdah._pause_destinations();
end
$$;
