-- howdah._json_of(p_body): a body as JSON.
--
-- Returns  jsonb; NULL if it is none, or holds the character U+0000, which PostgreSQL's JSON cannot.
-- Role     internal
create or replace function howdah._json_of(p_body bytea) returns jsonb
language plpgsql immutable
as $$
begin
    return convert_from(p_body, 'UTF8')::jsonb;
exception when data_exception or program_limit_exceeded or statement_too_complex then
    return null;
end
$$;
