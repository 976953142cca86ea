-- howdah._engine_option_kinds(): the permitted values of each option of a listener, a service or the engine.
--
-- Returns  as howdah._option_kinds.
-- Role     internal
create or replace function howdah._engine_option_kinds()
returns table (owner text, key text, kind text, lowest numeric, highest numeric, choices text[], nullable boolean)
language sql immutable
as $$
    values
        ('listener', 'max_sessions', 'integer', 1, 1000, null, false),
        ('listener', 'stop_on_failure', 'boolean', 0, 0, null, false),
        ('listener', 'sequential_failures', 'integer', 0, 1000000, null, false),
        ('listener', 'kind', 'choice', 0, 0, array['activation_specification', 'listener_port'], false),
        ('engine', 'max_count', 'integer', -1, 999999999999999, null, true),
        ('engine', 'max_size', 'size', 0, 0, null, true),
        ('engine', 'max_message_bytes', 'size', 0, 0, null, true),
        ('engine', 'yellow_threshold', 'integer', 1, 100, null, false),
        ('engine', 'orange_threshold', 'integer', 1, 100, null, false),
        ('engine', 'red_threshold', 'integer', 1, 100, null, false),
        ('engine', 'orange_delay_ms', 'integer', 0, 60000, null, false),
        ('engine', 'default_blocked_retry_ms', 'integer', 0, 3155760000000, null, false),
        ('engine', 'redelivered_optimization', 'boolean', 0, 0, null, false),
        ('engine', 'expiration_interval_seconds', 'integer', 0, 31536000, null, false),
        ('engine', 'autorollback', 'boolean', 0, 0, null, false),
        ('engine', 'topic_rotation_seconds', 'integer', 1, 31536000, null, false),
        ('engine', 'journal_retention_days', 'integer', 1, 36500, null, false),
        ('engine', 'incident_retention_days', 'integer', 1, 36500, null, false),
        ('engine', 'log_level', 'choice', 0, 0, array['ERROR', 'WARNING', 'INFO'], false),
        ('engine', 'log_retention_days', 'integer', 1, 36500, null, false),
        ('engine', 'archive', 'boolean', 0, 0, null, false),
        ('engine', 'persistent', 'boolean', 0, 0, null, false),
        ('engine', 'exclusive', 'boolean', 0, 0, null, false),
        ('engine', 'instance_timeout_seconds', 'integer', 2, 3600, null, false),
        ('engine', 'autocreate_queue', 'boolean', 0, 0, null, false),
        ('engine', 'autocreate_topic', 'boolean', 0, 0, null, false),
        ('engine', 'autocreate_options', 'options', 0, 0, null, false),
        ('engine', 'autocreate_reap_seconds', 'integer', 1, 31536000, null, false),
        ('engine', 'access_enabled', 'boolean', 0, 0, null, false),
        ('engine', 'rule_set', 'rule_set', 0, 0, null, false),
        ('service', 'active', 'boolean', 0, 0, null, false),
        ('service', 'access_enabled', 'boolean', 0, 0, null, true),
        ('service', 'rule_set', 'rule_set', 0, 0, null, true),
        ('service', 'roles', 'roles', 0, 0, null, true),
        ('service', 'require_tls', 'boolean', 0, 0, null, false),
        ('service', 'min_connections', 'integer', 0, 9999, null, false),
        ('service', 'max_connections', 'integer', 1, 10000, null, false),
        ('service', 'idle_seconds', 'integer', 1, 31536000, null, false),
        ('service', 'model', 'choice', 0, 0, array['dedicated', 'shared'], false),
        ('service', 'monitor_limit', 'integer', 0, 1000000, null, false),
        ('service', 'comment', 'text', 0, 0, null, true)
$$;
