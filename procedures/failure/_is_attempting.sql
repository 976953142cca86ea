-- howdah._is_attempting(): whether howdah.begin_attempts is running.
--
-- Returns  boolean.
-- Role     internal
--
-- Anybody can set its setting, but only the owner can read the value that it must have. It is set only during the call.
create or replace function howdah._is_attempting() returns boolean
language sql stable
as $$
    select coalesce(current_setting('howdah.attempting', true), '') <> ''
        and current_setting('howdah.attempting', true) = (select e.attempting_secret::text from howdah.engine e)
$$;
