-- howdah.quiesce_engine(reason): let no new work begin in the whole engine, and let what is under way end.
--
-- Returns  boolean; false if it was quiesced or stopped already.
-- Raises   HD005 the transaction is not READ COMMITTED; HD010 called from a maintenance command.
-- Role     howdah_admin
--
-- It holds from the commit on. New sends, receives, leases, consumers, subscriptions and temporary queues then raise
-- HD040. Schedules do not fire. A transaction that has begun to write may go on to send, and commit. Leases may be
-- acknowledged, given back and extended, and failures recorded.
--
-- howdah.engine_state() shows what is under way. The engine stays quiesced over a restart of the server.
create or replace function howdah.quiesce_engine(reason text default null) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    return howdah._enter_state('{running,paused}', 'quiesced', 'quiesced', reason);
end
$$;
