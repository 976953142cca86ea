-- howdah._hint(p_sequence): the value of a hint.
--
-- Returns  bigint; 0 if it has none.
-- Role     internal
create or replace function howdah._hint(p_sequence regclass) returns bigint
language sql volatile
as $$ select coalesce(pg_sequence_last_value(p_sequence), 0) $$;
