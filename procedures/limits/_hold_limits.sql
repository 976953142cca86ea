-- howdah._hold_limits(): let the engine's limits stay as they are until the transaction ends.
--
-- Role     internal
--
-- howdah.alter_engine waits for a queue being made or altered, or this for it. Called before a destination's row is
-- locked, so that the two do not wait for each other.
create or replace function howdah._hold_limits() returns void
language plpgsql volatile
as $$
begin
    perform from howdah.engine e for key share;
end
$$;
