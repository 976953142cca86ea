-- howdah._left_in_session(): the session's prepared statements and cursors WITH HOLD, which outlive its transaction.
--
-- Returns  arrays (jsonb) of kind, name, statement and time.
-- Role     internal
create or replace function howdah._left_in_session() returns setof jsonb
language sql volatile
as $$
    select jsonb_build_array('statement', s.name, s.statement, s.prepare_time) from pg_prepared_statements s
    union all
    select jsonb_build_array('cursor', c.name, c.statement, c.creation_time) from pg_cursors c where c.is_holdable
$$;
