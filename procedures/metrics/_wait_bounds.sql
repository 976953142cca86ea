-- howdah._wait_bounds(): the bounds of the buckets in which times from send to receive are counted.
--
-- Returns  seconds (double precision[]), ascending. One more bucket has all that is longer.
-- Role     internal
create or replace function howdah._wait_bounds() returns double precision[]
language sql immutable
as $$ select '{0.001,0.005,0.01,0.05,0.1,0.5,1,5,10,60,300,3600,86400}'::double precision[] $$;
