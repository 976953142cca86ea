-- howdah._are_words(p_value, p_most, p_pattern): whether a JSON value is an array of 1 to p_most texts of a form.
--
-- Role     internal
create or replace function howdah._are_words(p_value jsonb, p_most numeric, p_pattern text) returns boolean
language sql immutable
as $$
    select case when jsonb_typeof(p_value) = 'array' then jsonb_array_length(p_value) between 1 and p_most
        and (select bool_and(jsonb_typeof(w) = 'string' and w #>> '{}' ~ p_pattern)
            from jsonb_array_elements(p_value) w)
        else false end
$$;
