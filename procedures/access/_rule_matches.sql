-- howdah._rule_matches(p_pattern, p_name): whether the name of a rule covers a destination's name.
--
-- Returns  boolean.
-- Role     internal
--
-- * alone covers every name. JOBS.* and JOBS.> are wildcards as everywhere. Names with a colon are those of
-- subscriptions, never wildcards.
create or replace function howdah._rule_matches(p_pattern text, p_name text) returns boolean
language sql immutable
as $$
    select p_pattern in ('*', p_name)
        or p_pattern ~ '[*>]' and strpos(p_pattern, ':') = 0 and howdah._matches_wildcard(p_name, p_pattern)
$$;
