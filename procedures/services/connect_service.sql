-- howdah.connect_service(name): have this session belong to a service, from now on.
--
-- Returns  one row: the service's settings for the client's pool of connections.
-- Raises   HD010 the caller does not belong to the service, or may not connect so; HD044 there is no such service, it
--          is not active, or it demands TLS and the session has none.
-- Role     everybody
--
-- It sets howdah.service for the session. With a service of kind NORMAL, the functions that only administrators may
-- call raise HD044. Behind a pooler that shares sessions, do not call it: others would get the session.
--
-- The server knows whether its own connection has TLS. Behind a pooler that is the pooler's. The owner of Howdah needs
-- pg_read_all_stats to see it.
create or replace function howdah.connect_service(name text) returns table (
    service text, kind text, model text, min_connections integer, max_connections integer, idle_seconds integer,
    monitor_limit integer
)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_service howdah.services;
    v_tls boolean;
begin
    select s.* into v_service from howdah.services s where s.name = connect_service.name and s.active;
    if not found then
        perform howdah._refuse_service(connect_service.name);
    end if;
    if v_service.require_tls then
        v_tls := (select t.ssl from pg_stat_ssl t where t.pid = pg_backend_pid());
        if v_tls is not true then
            raise exception using errcode = 'HD044',
                message = format('service %s demands TLS, and %s', v_service.name, case
                    when current_setting('ssl') = 'off' then 'the server has none'
                    when v_tls is null then 'Howdah''s owner cannot see whether this session has it'
                    else 'this session has none' end),
                hint = case
                    when v_tls is null and current_setting('ssl') = 'on' then
                        'Grant pg_read_all_stats to the role that owns the schema howdah.'
                    else 'Connect with sslmode=verify-full, or use a service without TLS.' end;
        end if;
    end if;
    if not (v_service.roles is null or exists (
                select from unnest(v_service.roles) r(role_name) where howdah._has_role(r.role_name)))
       or not howdah._has_right_by_name('connection', v_service.kind, 'connect') then
        raise exception using errcode = 'HD010',
            message = format('role %s may not connect with service %s', quote_ident(howdah._caller()), v_service.name),
            hint = 'Ask an administrator for membership in a role of the service (howdah.list_services()).';
    end if;
    perform set_config('howdah.service', v_service.name, false);
    return query select v_service.name, v_service.kind, v_service.model, v_service.min_connections,
        v_service.max_connections, v_service.idle_seconds, v_service.monitor_limit;
end
$$;
