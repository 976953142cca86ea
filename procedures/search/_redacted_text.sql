-- howdah._redacted_text(p_body, p_is_text, p_paths): a body as text for people, without what is private.
--
-- Returns  text; the bytes of a body that is no text as hexadecimal digits. With rules, JSON comes as PostgreSQL
--          writes it, and every other body as [redacted]: no path tells what in it is private.
-- Role     internal
create or replace function howdah._redacted_text(p_body bytea, p_is_text boolean, p_paths text[]) returns text
language plpgsql immutable
as $$
declare
    v_text text := case when p_is_text then convert_from(p_body, 'UTF8') end;
    v_json jsonb;
    v_path text;
begin
    if p_paths is null then
        return coalesce(v_text, encode(p_body, 'hex'));
    elsif v_text is null or '$' = any (p_paths) then
        return case when p_body is not null then '[redacted]' end;
    end if;
    begin
        v_json := v_text::jsonb;
    exception when data_exception or program_limit_exceeded or statement_too_complex then
        return '[redacted]';  -- no JSON, or what jsonb cannot hold
    end;
    if jsonb_typeof(v_json) not in ('object', 'array') then
        return '[redacted]';
    end if;
    foreach v_path in array p_paths loop
        v_json := howdah._redact(v_json, howdah._path_parts(v_path));
    end loop;
    return v_json::text;
end
$$;
