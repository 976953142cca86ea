-- pgmq.format_table_name(queue_name, prefix): the name of a queue's view: q is the queue, a its archive.
--
-- Returns  text, in lower case.
-- Raises   P0001 the name has characters that pgmq does not allow.
-- Role     everybody
create or replace function pgmq.format_table_name(queue_name text, prefix text) returns text
language plpgsql immutable
as $$
begin
    if queue_name ~ '\$|;|--|''' then
        raise exception 'queue name contains invalid characters: $, ;, --, or \''';
    end if;
    return lower(prefix || '_' || queue_name);
end
$$;
