-- howdah._redacted(p_message, p_paths): a message as a caller may see it who may browse it only.
--
-- Returns  howdah.message, with the body of howdah._redacted_text.
-- Role     internal
create or replace function howdah._redacted(p_message howdah.message, p_paths text[]) returns howdah.message
language plpgsql stable
as $$
begin
    if p_message.bytes is not null then
        p_message.bytes := convert_to('[redacted]', 'UTF8');
    elsif p_message.body is not null then
        p_message.body := howdah._redacted_text(convert_to(p_message.body, 'UTF8'), true, p_paths);
    end if;
    return p_message;
end
$$;
