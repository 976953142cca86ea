-- howdah._json_of(p_body): a body as JSON.
--
-- Returns  value (jsonb); fault: NULL, or why there is none, without a word of the body.
-- Role     internal
create or replace function howdah._json_of(p_body bytea, out value jsonb, out fault text) returns record
language plpgsql immutable
as $$
begin
    value := convert_from(p_body, 'UTF8')::jsonb;
exception
    when invalid_text_representation then
        fault := 'it is no JSON';
    when data_exception or program_limit_exceeded or statement_too_complex then
        fault := 'it is no JSON that PostgreSQL can hold: ' || sqlerrm;
end
$$;
