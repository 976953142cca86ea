-- howdah._selector_typed(p_value, p_type, p_test): the SQL of a test of a header; false if the header has another type,
-- and unknown without it.
--
-- Returns  text.
-- Role     internal
create or replace function howdah._selector_typed(p_value text, p_type text, p_test text) returns text
language sql immutable
as $$
    select format('case jsonb_typeof%1$s when %2$L then %3$s else jsonb_typeof%1$s = ''null'' and null end', p_value,
        p_type, p_test)
$$;
