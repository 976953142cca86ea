-- pgmq._json(p_content_type, p_body, p_is_text): the body of a stored message as pgmq shows it.
--
-- Returns  jsonb; NULL for a NULL that the facade stored.
-- Role     internal
--
-- A body that is no JSON comes as a JSON string: text as it is, bytes in base64. Only bodies that somebody sent through
-- howdah.send can be so. p_is_text: the body is known to be text.
--
-- PostgreSQL 16 can ask first whether text is JSON, which costs less than the subtransaction of an EXCEPTION.
create or replace function pgmq._json_tried(p_content_type text, p_body bytea) returns jsonb
language plpgsql immutable
as $$
begin
    if p_content_type = 'application/json' then
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

create or replace function pgmq._json(p_content_type text, p_body bytea, p_is_text boolean default false) returns jsonb
language plpgsql immutable
as $$
declare
    v_text text;
begin
    if p_content_type = 'application/x-sql-null' then
        return null;
    elsif p_is_text and current_setting('server_version_num') >= '160000' then
        v_text := convert_from(p_body, 'UTF8');
        if p_content_type = 'application/json' and pg_input_is_valid(v_text, 'jsonb') then
            return v_text::jsonb;
        end if;
        return to_jsonb(v_text);
    end if;
    return pgmq._json_tried(p_content_type, p_body);
end
$$;
