-- howdah._matches_wildcard(p_name, p_pattern): whether a name matches a wildcard.
--
-- Returns  boolean.
-- Role     internal
--
-- Names are parts between dots. * stands for one part; > at the end stands for the rest, or for nothing more.
create or replace function howdah._matches_wildcard(p_name text, p_pattern text) returns boolean
language sql immutable
as $$
    select case
        when p_pattern = '>' then true
        when p_pattern like '%.>' then p_name ~ ('^' || replace(replace(left(p_pattern, -2), '.', '[.]'), '*', '[^.]+')
            || '([.].+)?$')
        else p_name ~ ('^' || replace(replace(p_pattern, '.', '[.]'), '*', '[^.]+') || '$') end
$$;
