-- howdah._redaction_paths(p_name, p_origin, p_message_id): what is private in the body of a message that lies in one
-- destination and came from another (NULL: from none).
--
-- Returns  text[] of JSON paths, in the order of their texts; NULL if no rule concerns any of them.
-- Role     internal
--
-- p_name may be an alias. p_message_id, which may be NULL, tells where the message was sent to. That may be neither of
-- the two: a dead message of a subscription came from there, and its body from a topic.
create or replace function howdah._redaction_paths(p_name text, p_origin text, p_message_id bigint) returns text[]
language sql stable
as $$
    select array_agg(distinct r.path order by r.path) from howdah.redactions r
    where howdah._matches_wildcard(p_name, r.pattern) or howdah._matches_wildcard(p_origin, r.pattern)
        or howdah._matches_wildcard(howdah._destination_name((p_message_id % 1000000)::integer), r.pattern)
        or howdah._matches_wildcard((select a.target from howdah.aliases a where a.name = p_name), r.pattern)
$$;
