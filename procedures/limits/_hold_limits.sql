-- howdah._hold_limits(): keep the engine's limits as they are until the transaction ends.
--
-- Role     internal
--
-- howdah.alter_engine waits while queues are created or altered, and this call waits for howdah.alter_engine. Call it
-- before locking a destination's row, so that the two cannot deadlock.
create or replace function howdah._hold_limits() returns void
language plpgsql volatile
as $$
begin
    perform from howdah.engine e for key share;
end
$$;
