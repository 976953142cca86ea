-- howdah._resource_of(p_kind): the resource of access rules that a kind of destination is: queue or topic.
--
-- Returns  text; a subscription is under its topic's rules.
-- Role     internal
create or replace function howdah._resource_of(p_kind text) returns text
language sql immutable
as $$ select case p_kind when 'queue' then 'queue' else 'topic' end $$;
