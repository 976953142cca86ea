-- howdah._is_attempting(): whether howdah.begin_attempts is at work.
--
-- Returns  boolean.
-- Role     internal
--
-- Anybody can set the setting that it sets, but not to what only the owner can read; it is set for no longer than the
-- call.
create or replace function howdah._is_attempting() returns boolean
language sql stable
as $$
    select coalesce(current_setting('howdah.attempting', true), '') <> ''
        and current_setting('howdah.attempting', true) = (select e.attempting_secret::text from howdah.engine e)
$$;
