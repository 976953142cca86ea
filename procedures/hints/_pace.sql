-- howdah._pace(p_clock): the time in which the steps of a search are paced.
--
-- Returns  milliseconds, bigint.
-- Role     internal
--
-- From clock_timestamp(), not howdah.now(): it decides how often to look, never what is delivered. Not IMMUTABLE, for
-- date_part is not, and PostgreSQL would then not inline it (1 us a call).
create or replace function howdah._pace(p_clock timestamptz) returns bigint
language sql stable
as $$ select (date_part('epoch', p_clock) * 1000)::bigint $$;
