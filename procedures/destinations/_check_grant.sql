-- howdah._check_grant(p_verb, p_role): refuse a right that cannot be granted.
--
-- Raises   HD005 no such verb or role.
-- Role     internal
create or replace function howdah._check_grant(p_verb text, p_role text) returns void
language plpgsql stable
as $$
begin
    perform howdah._check_verb(p_verb);
    if not exists (select from pg_roles r where r.rolname = p_role) then
        raise exception using errcode = 'HD005', message = format('there is no role %s',
            coalesce(quote_literal(p_role), 'NULL'));
    end if;
end
$$;
