-- howdah._engine_option(p_key): our name of an engine's property, given by our name or that of Sun ONE MQ or WebSphere.
--
-- Returns  text; a name that is neither stays as it is.
-- Role     internal
create or replace function howdah._engine_option(p_key text) returns text
language sql immutable
as $$
    select case p_key
        when 'imq.system.max_count' then 'max_count'
        when 'imq.system.max_size' then 'max_size'
        when 'imq.message.max_size' then 'max_message_bytes'
        when 'imq.yellow.threshold' then 'yellow_threshold'
        when 'imq.orange.threshold' then 'orange_threshold'
        when 'imq.red.threshold' then 'red_threshold'
        when 'imq.message.expiration.interval' then 'expiration_interval_seconds'
        when 'imq.redelivered.optimization' then 'redelivered_optimization'
        when 'imq.transaction.autorollback' then 'autorollback'
        when 'imq.autocreate.queue' then 'autocreate_queue'
        when 'imq.autocreate.topic' then 'autocreate_topic'
        when 'imq.autocreate.reaptime' then 'autocreate_reap_seconds'
        when 'imq.log.level' then 'log_level'
        when 'imq.accesscontrol.enabled' then 'access_enabled'
        when 'imq.accesscontrol.file.filename' then 'rule_set'
        when 'sib.processor.blockedRetryTimeout' then 'default_blocked_retry_ms'
        else p_key end
$$;
