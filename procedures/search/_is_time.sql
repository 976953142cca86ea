-- howdah._is_time(p_text): whether PostgreSQL reads a text as a time.
--
-- Role     internal
--
-- pg_input_is_valid exists only since PostgreSQL 16.
create or replace function howdah._is_time(p_text text) returns boolean
language plpgsql stable
as $$
begin
    perform p_text::timestamptz;
    return true;
exception when data_exception then
    return false;
end
$$;
