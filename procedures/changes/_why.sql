-- howdah._why(p_of): the reason of an act: what it was done to, and the setting howdah.reason of the caller.
--
-- Returns  both, with a colon between; NULL if there is neither.
-- Role     internal
create or replace function howdah._why(p_of text default null) returns text
language sql stable
as $$
    select nullif(concat_ws(': ', p_of, nullif(current_setting('howdah.reason', true), '')), '')
$$;
