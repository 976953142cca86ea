-- howdah._sample_start(p_n, p_first, p_last): where in a part to begin looking: in its first half, at a different place
-- in each part.
--
-- Returns  a position.
-- Role     internal
--
-- It uses multiples of the golden section, which spread evenly. It stays in the first half, so that the few messages
-- that may remain behind it do not count for many.
create or replace function howdah._sample_start(p_n bigint, p_first bigint, p_last bigint) returns bigint
language sql immutable
as $$ select p_first + floor((p_last - p_first) / 2 * (p_n * 0.6180339887 % 1))::bigint $$;
