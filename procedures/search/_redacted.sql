-- howdah._redacted(p_message): a message as a caller sees it who may only browse it.
--
-- Returns  howdah.message, with the body of howdah._redacted_text. The rules of its queue and of its origin apply.
-- Role     internal
create or replace function howdah._redacted(p_message howdah.message) returns howdah.message
language plpgsql stable
as $$
declare
    v_paths text[] := howdah._redaction_paths(p_message.queue, p_message.origin_queue,
        p_message.message_id);
begin
    if v_paths is null then
        return p_message;
    elsif p_message.bytes is not null then
        p_message.bytes := convert_to('[redacted]', 'UTF8');
    elsif p_message.body is not null then
        p_message.body := howdah._redacted_text(convert_to(p_message.body, 'UTF8'), true, v_paths);
    end if;
    return p_message;
end
$$;
