-- howdah._body_type(p_is_text, p_content_type): what a body is to people: bytes, json or text.
--
-- Returns  text; NULL for no body.
-- Role     internal
create or replace function howdah._body_type(p_is_text boolean, p_content_type text) returns text
language sql immutable
as $$
    select case when not p_is_text then 'bytes' when p_content_type ~ E'[/+]json\\M' then 'json'
        when p_is_text then 'text' end
$$;
