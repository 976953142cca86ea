-- howdah.pause_engine(reason): let nobody send or receive in the whole engine, until howdah.resume_engine().
--
-- Returns  boolean; false if it was paused, quiesced or stopped already.
-- Raises   HD005 the transaction is not READ COMMITTED; HD010 called from a maintenance command.
-- Role     howdah_admin
--
-- It holds from the commit on. Sends and receives then raise HD040, also those of transactions that are open. These may
-- commit what they did before, and leases may be acknowledged. Schedules do not fire. It outlasts a restart of the
-- server.
create or replace function howdah.pause_engine(reason text default null) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    return howdah._enter_state('{running}', 'paused', 'paused', reason);
end
$$;
