-- howdah.resume_engine(reason): let everybody send and receive again in the whole engine.
--
-- Returns  boolean; false if it was running.
-- Raises   HD005 the transaction is not READ COMMITTED; HD010 called from a maintenance command; HD045 the master of
--          changes is away.
-- Role     howdah_admin
--
-- Queues, topics and subscriptions that were paused by themselves stay so. After a stop, all non-persistent messages
-- are discarded first, in the same transaction, and the journal has them as lost. It then waits for maintenance that
-- moves such messages.
create or replace function howdah.resume_engine(reason text default null) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    perform howdah._begin_again();
    if howdah._engine_state() = 'stopped' then
        -- Lock these before the engine's row: whoever writes to them may need that.
        lock table only howdah.msgs_nonpersistent, only howdah.parked, only howdah.topic_nonpersistent_0,
            only howdah.topic_nonpersistent_1, only howdah.topic_nonpersistent_2 in exclusive mode;
        perform from howdah.engine e for update;
        if howdah._engine_state() = 'stopped' and not howdah._has_old_snapshot() then
            perform howdah._lose_nonpersistent(true, 'engine stopped');
        end if;
    end if;
    return howdah._enter_state('{paused,quiesced,stopped}', 'running', 'resumed', reason);
end
$$;
