-- howdah._check_admin_service(): refuse a session that has connected with a service that is not for administrators.
--
-- Returns  true.
-- Raises   HD044 it has.
-- Role     internal
--
-- The installer has each function that only administrators may call begin with it. A session that names no service
-- keeps what its roles allow.
create or replace function howdah._check_admin_service() returns boolean
language plpgsql stable
as $$
declare
    v_service constant text := current_setting('howdah.service', true);
begin
    if v_service <> '' and not exists (
        select from howdah.services s where s.name = v_service and s.kind = 'ADMIN'
    ) then
        raise exception using errcode = 'HD044',
            message = format('service %s is not for administration', quote_literal(left(v_service, 100))),
            hint = 'Connect with the service admin, or with none.';
    end if;
    return true;
end
$$;
