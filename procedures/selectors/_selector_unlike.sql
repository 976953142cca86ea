-- howdah._selector_unlike(p_sql, p_other_sql): a comparison of different types, as SQL: false, or unknown if one
-- operand is unknown.
--
-- Returns  text.
-- Role     internal
create or replace function howdah._selector_unlike(p_sql text, p_other_sql text) returns text
language sql immutable
as $$ select format('((%s) is null or (%s) is null) and null', p_sql, p_other_sql) $$;
