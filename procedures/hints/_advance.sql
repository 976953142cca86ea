-- howdah._advance(p_head, p_position): move a head forward, never back.
--
-- Returns  true.
-- Role     internal
--
-- A head that went back would give out the tickets of other receivers again. One receiver would then wait until the
-- other ends.
create or replace function howdah._advance(p_head regclass, p_position bigint) returns boolean
language sql volatile
as $$ select coalesce(pg_sequence_last_value(p_head), 0) >= p_position or setval(p_head, p_position) is not null $$;
