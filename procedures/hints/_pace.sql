-- howdah._pace(p_clock): the clock by which the steps of a search are timed.
--
-- Returns  milliseconds (bigint).
-- Role     internal
--
-- It uses clock_timestamp(), not howdah.now(), because it decides how often to look and never what is delivered. It is
-- not IMMUTABLE: date_part is not, and PostgreSQL would then not inline it (1 us per call).
create or replace function howdah._pace(p_clock timestamptz) returns bigint
language sql stable
as $$ select (date_part('epoch', p_clock) * 1000)::bigint $$;
