-- howdah._system_limited(): whether a limit of the whole engine is set.
--
-- Returns  boolean.
-- Role     internal
create or replace function howdah._system_limited() returns boolean
language sql stable
as $$ select exists (select from howdah.engine e where e.max_count is not null or e.max_bytes is not null) $$;
