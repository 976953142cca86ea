-- howdah._hint(p_sequence): what a hint remembers.
--
-- Returns  bigint; 0 if nothing.
-- Role     internal
create or replace function howdah._hint(p_sequence regclass) returns bigint
language sql volatile
as $$ select coalesce(pg_sequence_last_value(p_sequence), 0) $$;
