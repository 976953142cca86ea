-- howdah._caller_is_granted(p_role): howdah._is_member for the caller, if that is a superuser.
--
-- Returns  boolean.
-- Role     internal
create or replace function howdah._caller_is_granted(p_role text) returns boolean
language plpgsql stable
as $$
begin
    return howdah._is_member(howdah._caller(), p_role);
end
$$;
