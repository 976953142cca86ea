-- howdah._counting_bound(): how many live messages of a destination a look counts at most, and as many parked ones.
-- Each count takes about 1 ms.
--
-- Returns  10,000.
-- Role     internal
create or replace function howdah._counting_bound() returns bigint language sql immutable as $$ select 10000::bigint $$;
