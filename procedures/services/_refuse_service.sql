-- howdah._refuse_service(p_service): say why nobody can connect with a service.
--
-- Raises   HD044 always.
-- Role     internal
create or replace function howdah._refuse_service(p_service text) returns void
language plpgsql volatile
as $$
declare
    v_active text := (select string_agg(s.name, ', ' order by s.name) from howdah.services s where s.active);
begin
    raise exception using errcode = 'HD044',
        message = case
            when p_service in ('httpjms', 'httpsjms') then
                format('service %s is not available: PostgreSQL''s protocol is the only transport', p_service)
            when exists (select from howdah.services s where s.name = p_service) then
                format('service %s is not active', p_service)
            else format('there is no service %s', coalesce(quote_literal(left(p_service, 100)), 'NULL')) end,
        hint = coalesce('Active services are: ' || v_active || '.', 'No service is active.');
end
$$;
