-- howdah._try_latch(p_name): take one of the engine's own locks until the transaction ends, if it is free.
--
-- Returns  boolean; false if another transaction has it.
-- Role     internal
create or replace function howdah._try_latch(p_name text) returns boolean
language plpgsql volatile
as $$
begin
    perform from howdah.latches l where l.name = p_name for update skip locked;
    return found;
end
$$;
