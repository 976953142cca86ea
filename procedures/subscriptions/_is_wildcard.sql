-- howdah._is_wildcard(p_topic): whether a subscription's topic is a wildcard.
--
-- Returns  boolean.
-- Role     internal
create or replace function howdah._is_wildcard(p_topic text) returns boolean
language sql immutable
as $$ select strpos(p_topic, '*') > 0 or right(p_topic, 1) = '>' $$;
