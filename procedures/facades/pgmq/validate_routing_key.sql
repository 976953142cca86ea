-- pgmq.validate_routing_key(routing_key): refuse a text that is no routing key.
--
-- Returns  true.
-- Raises   P0001 it is NULL, empty or too long, has other characters than letters, digits, dots, hyphens and
--          underscores, or an empty part.
-- Role     everybody
create or replace function pgmq.validate_routing_key(routing_key text) returns boolean
language plpgsql immutable
as $$
begin
    if routing_key is null or routing_key = '' then
        raise exception 'routing_key cannot be NULL or empty';
    elsif length(routing_key) > 255 then
        raise exception 'routing_key length cannot exceed 255 characters, got % characters', length(routing_key);
    elsif routing_key !~ '^[a-zA-Z0-9._-]+$' then
        raise exception using message = format('routing_key contains invalid characters. Only alphanumeric, dots,'
            ' hyphens, and underscores are allowed. Got: %s', routing_key);
    elsif routing_key ^@ '.' then
        raise exception 'routing_key cannot start with a dot. Got: %', routing_key;
    elsif right(routing_key, 1) = '.' then
        raise exception 'routing_key cannot end with a dot. Got: %', routing_key;
    elsif strpos(routing_key, '..') > 0 then
        raise exception 'routing_key cannot contain consecutive dots. Got: %', routing_key;
    end if;
    return true;
end
$$;
