-- howdah._level_name(p_reliability, p_nonpersistent): the name of a stored message's level of reliability.
--
-- Returns  text. p_reliability NULL: the usual level of the message's delivery mode.
-- Role     internal
create or replace function howdah._level_name(p_reliability smallint, p_nonpersistent boolean) returns text
language sql immutable
as $$
    select case coalesce(p_reliability, case when p_nonpersistent then 1 else 4 end)
        when 0 then 'BEST_EFFORT_NONPERSISTENT' when 1 then 'EXPRESS_NONPERSISTENT'
        when 2 then 'RELIABLE_NONPERSISTENT' when 3 then 'RELIABLE_PERSISTENT' else 'ASSURED_PERSISTENT' end
$$;
