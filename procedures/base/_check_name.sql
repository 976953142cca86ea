-- howdah._check_name(p_name): refuse a text that cannot be the name of a destination.
--
-- Raises   HD003 the name is empty, too long, reserved, or has characters that are not allowed.
-- Role     internal
--
-- 242 characters and the prefix queue:// fill ActiveMQ's VARCHAR(250).
create or replace function howdah._check_name(p_name text) returns void
language plpgsql immutable
as $$
begin
    if p_name is null or p_name !~ '^[A-Za-z0-9._/-]{1,242}$' then
        raise exception using errcode = 'HD003',
            message = format('bad queue name %s', coalesce(quote_literal(left(p_name, 250)), 'NULL')),
            hint = 'A name has 1 to 242 characters out of A-Z a-z 0-9 . _ - /';
    end if;
    if p_name ^@ '_SYSTEM.' or p_name ^@ '_TEMP.' then
        raise exception using errcode = 'HD003',
            message = format('queue name %s is reserved', quote_literal(p_name)),
            hint = 'Names that begin with _SYSTEM. or _TEMP. belong to the engine.';
    end if;
end
$$;
