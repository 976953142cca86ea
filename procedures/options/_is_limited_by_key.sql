-- howdah._is_limited_by_key(p_destination): whether a queue limits concurrency or rate for each key.
--
-- Returns  boolean.
-- Role     internal
create or replace function howdah._is_limited_by_key(p_destination howdah.destinations) returns boolean
language sql immutable
as $$ select p_destination.max_concurrent_per_key is not null or p_destination.rate_limit_per_key is not null $$;
