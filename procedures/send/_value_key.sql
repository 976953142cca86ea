-- howdah._value_key(p_header, p_value): the key of messages whose header has this value, in a last-value queue.
--
-- Returns  bytea: SHA-256. The header's name is part of it: another header's values are other keys.
-- Role     internal
create or replace function howdah._value_key(p_header text, p_value text) returns bytea
language sql immutable
as $$
    select sha256(convert_to(length(p_header) || ':' || p_header || p_value, 'UTF8'))
$$;
