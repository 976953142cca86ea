-- howdah._parse_size(p_size): a number of bytes from a text with the unit b, k or m.
--
-- Returns  bigint; NULL if the text is no size.
-- Role     internal
create or replace function howdah._parse_size(p_size text) returns bigint
language sql immutable
as $$
    select m.part[1]::bigint * case lower(m.part[2]) when 'k' then 1024 when 'm' then 1048576 else 1 end
    from regexp_match(p_size, '^(-1|[0-9]{1,12})([bkmBKM]?)$') m(part)
$$;
