-- howdah._cron_number(p_word, p_field): the value of a number or name in a field of a cron expression.
--
-- Returns  integer; NULL if it has none.
-- Role     internal
create or replace function howdah._cron_number(p_word text, p_field bigint) returns integer
language sql immutable
as $$
    select case when p_word ~ '^[0-9]' then p_word::integer
        when p_field = 4 then array_position(array['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct',
            'nov', 'dec'], p_word)
        when p_field = 5 then array_position(array['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'], p_word) - 1 end
$$;
