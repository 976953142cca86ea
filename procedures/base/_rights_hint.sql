-- howdah._rights_hint(p_usual): what a caller without a right can do about it.
--
-- Returns  text: p_usual, unless the caller is a superuser.
-- Role     internal
--
-- Superusers expect to have every right, so the hint says why they have not.
create or replace function howdah._rights_hint(p_usual text) returns text
language sql stable
as $$
    select case when current_setting('is_superuser') = 'on'
        then 'A superuser has no right by that alone: grant it a role of Howdah, such as the administrators'' one.'
        else p_usual end;
$$;
