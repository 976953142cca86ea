-- howdah._service_option(p_service, p_key): our name of a service's property, given by our name or that of Sun ONE MQ.
--
-- Returns  text; a name that is neither stays as it is.
-- Role     internal
create or replace function howdah._service_option(p_service text, p_key text) returns text
language sql immutable
as $$
    select case p_key
        when 'imq.' || p_service || '.min_threads' then 'min_connections'
        when 'imq.' || p_service || '.max_threads' then 'max_connections'
        when 'imq.' || p_service || '.threadpool_model' then 'model'
        when 'imq.' || p_service || '.accesscontrol.enabled' then 'access_enabled'
        when 'imq.shared.connectionMonitor_limit' then 'monitor_limit'
        else p_key end
$$;
