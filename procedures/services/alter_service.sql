-- howdah.alter_service(service, options): change a service: whether it is active, whom it serves, what its pools are
-- like.
--
-- Raises   HD003 rule_set is no valid name; HD004 unknown or wrong option, or options that contradict each other; HD005
--          rights would change above READ COMMITTED; HD010 not allowed; HD044 there is no such service; HD045 the
--          master of changes is away.
-- Role     howdah_admin
--
-- options is a JSON object; options that are not named stay. howdah.list_services() shows them, and docs/services.md
-- explains them. Names of Sun ONE MQ, such as imq.jms.max_threads, are also accepted.
--
-- roles, access_enabled and rule_set say which access rules hold for whom. They need the right to change all rules.
--
-- A change holds for sessions that connect from the commit on. Those that are there go on.
create or replace function howdah.alter_service(service text, options jsonb) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_before howdah.services;
    v_after howdah.services;
    v_options jsonb := options;
    v_missing text;
begin
    perform howdah._refuse_maintenance();
    if jsonb_typeof(options) = 'object' then
        select coalesce(jsonb_object_agg(howdah._service_option(service, o.key), o.value), '{}') into v_options
        from jsonb_each(options) o;
    end if;
    perform howdah._check_options('service', v_options);
    if v_options ?| array['access_enabled', 'rule_set', 'roles'] then
        perform howdah._check_rule_right(null, '*');
        perform howdah._touch_rules(null);
    end if;
    select s.* into v_before from howdah.services s where s.name = service for update;
    if not found then
        perform howdah._refuse_service(service);
    end if;
    v_after := jsonb_populate_record(v_before, v_options);
    if v_after.max_connections <= v_after.min_connections then
        raise exception using errcode = 'HD004',
            message = format('max_connections %s is not above min_connections %s', v_after.max_connections,
                v_after.min_connections),
            hint = 'A pool must be able to grow.';
    end if;
    v_missing := (select r.role_name from unnest(v_after.roles) r(role_name)
        where to_regrole(quote_ident(r.role_name)) is null limit 1);
    if v_missing is not null and v_options ? 'roles' then
        raise exception using errcode = 'HD004', message = format('there is no role %s', quote_ident(v_missing)),
            hint = 'Create it with CREATE ROLE first.';
    end if;
    update howdah.services s set active = v_after.active, access_enabled = v_after.access_enabled,
        rule_set = v_after.rule_set, roles = v_after.roles, require_tls = v_after.require_tls,
        min_connections = v_after.min_connections, max_connections = v_after.max_connections,
        idle_seconds = v_after.idle_seconds, model = v_after.model, monitor_limit = v_after.monitor_limit,
        comment = v_after.comment
    where s.name = service;
    perform howdah._record_change('service', service, 'altered', to_jsonb(v_before), to_jsonb(v_after));
end
$$;
