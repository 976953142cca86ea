-- howdah._redaction_paths(p_name, p_origin): what is private in the bodies of messages that lie in one destination and
-- came from another (NULL: from none).
--
-- Returns  text[] of JSON paths, in the order of their texts; NULL if no rule concerns either.
-- Role     internal
create or replace function howdah._redaction_paths(p_name text, p_origin text) returns text[]
language sql stable
as $$
    select array_agg(distinct r.path order by r.path) from howdah.redactions r
    where howdah._matches_wildcard(p_name, r.pattern) or howdah._matches_wildcard(p_origin, r.pattern)
$$;
