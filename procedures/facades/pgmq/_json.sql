-- pgmq._json(p_content_type, p_body): the body of a stored message as pgmq shows it.
--
-- Returns  jsonb; NULL for a NULL that the facade stored.
-- Role     internal
--
-- A body that is no JSON comes as a JSON string: text as it is, bytes in base64. Only bodies that somebody sent through
-- howdah.send can be like that.
create or replace function pgmq._json(p_content_type text, p_body bytea) returns jsonb
language plpgsql immutable
as $$
begin
    if p_content_type = 'application/x-sql-null' then
        return null;
    elsif p_content_type = 'application/json' then
        return convert_from(p_body, 'UTF8')::jsonb;
    end if;
    return to_jsonb(convert_from(p_body, 'UTF8'));
exception when others then
    begin
        return to_jsonb(convert_from(p_body, 'UTF8'));
    exception when others then
        return to_jsonb(encode(p_body, 'base64'));
    end;
end
$$;
