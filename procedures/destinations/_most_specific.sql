-- howdah._most_specific(p_name): the pattern that applies to a name.
--
-- Returns  text; NULL if none does.
-- Role     internal
--
-- Part by part, a name precedes *, and * precedes >, as in ActiveMQ's DestinationMap. ASCII has > after *, so the
-- patterns are compared as arrays of 0, 1 and 2.
create or replace function howdah._most_specific(p_name text) returns text
language sql stable
as $$
    select p.pattern
    from howdah.destination_policies p
    where howdah._matches_wildcard(p_name, p.pattern)
    order by array(select case s.part when '*' then 1 when '>' then 2 else 0 end
                   from unnest(string_to_array(p.pattern, '.')) with ordinality s(part, n) order by s.n),
                   length(p.pattern) desc
    limit 1
$$;
