-- howdah._silent_ms(p_alive): how long no consumer of a subscription has been heard of.
--
-- Returns  milliseconds (bigint).
-- Role     internal
create or replace function howdah._silent_ms(p_alive regclass) returns bigint
language sql volatile
as $$ select greatest(howdah._pace(clock_timestamp()) - coalesce(pg_sequence_last_value(p_alive), 0), 0) $$;
