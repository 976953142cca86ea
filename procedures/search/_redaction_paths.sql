-- howdah._redaction_paths(p_name): what is private in the bodies of a destination's messages.
--
-- Returns  text[] of JSON paths, in the order of their texts; NULL if no rule concerns it.
-- Role     internal
create or replace function howdah._redaction_paths(p_name text) returns text[]
language sql stable
as $$
    select array_agg(distinct r.path order by r.path) from howdah.redactions r
    where howdah._matches_wildcard(p_name, r.pattern)
$$;
