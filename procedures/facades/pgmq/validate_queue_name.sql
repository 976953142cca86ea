-- pgmq.validate_queue_name(queue_name): refuse a name that is too long.
--
-- Raises   P0001 it has more than 47 characters.
-- Role     everybody
create or replace function pgmq.validate_queue_name(queue_name text) returns void
language plpgsql immutable
as $$
begin
    if length(queue_name) > 47 then
        raise exception 'queue name is too long, maximum length is 47 characters';
    end if;
end
$$;
