-- howdah._counting_bound(): up to how many live, and as many parked, messages of a destination are counted at each
-- look; that takes about 1 ms each.
--
-- Returns  10,000.
-- Role     internal
create or replace function howdah._counting_bound() returns bigint language sql immutable as $$ select 10000::bigint $$;
