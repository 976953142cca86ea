-- howdah._is_principal(p_role, p_kind, p_principal): whether a rule's principal covers a role.
--
-- Returns  boolean.
-- Role     internal
create or replace function howdah._is_principal(p_role text, p_kind text, p_principal text) returns boolean
language sql stable
as $$
    select case when p_principal = '*' then true
        when p_kind = 'user' then p_role = p_principal
        else howdah._is_member(p_role, p_principal) end
$$;
