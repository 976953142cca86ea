-- howdah._object_attributes(): the permitted values of each attribute of an administered object.
--
-- Returns  one row per attribute. family: the kinds that have it (any, factory, xa, destination). type: integer,
--          boolean, choice, text, name, hosts or names. lowest and highest bound a number or a length.
-- Role     internal
create or replace function howdah._object_attributes()
returns table (family text, key text, type text, lowest numeric, highest numeric, choices text[])
language sql immutable
as $$
    values
        ('any', 'description', 'text', 0, 1000, null::text[]),
        -- which server, and how it is reached again
        ('factory', 'hosts', 'hosts', 1, 20, null),
        ('factory', 'load_balance', 'boolean', 0, 0, null),
        ('factory', 'dbname', 'text', 1, 63, null),
        ('factory', 'user', 'text', 1, 63, null),
        ('factory', 'role', 'text', 1, 63, null),
        ('factory', 'service', 'name', 1, 100, null),
        ('factory', 'sslmode', 'choice', 0, 0,
            array['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full']),
        ('factory', 'connection_service', 'name', 1, 100, null),
        ('factory', 'connect_timeout_ms', 'integer', 2000, 3600000, null),
        ('factory', 'min_size', 'integer', 0, 1000, null),
        ('factory', 'max_size', 'integer', 1, 10000, null),
        ('factory', 'reconnect_attempts', 'integer', -1, 1000000, null),
        ('factory', 'reconnect_interval_ms', 'integer', 0, 3600000, null),
        ('factory', 'reconnect_interval_max_ms', 'integer', 0, 3600000, null),
        ('factory', 'client_id', 'text', 1, 200, null),
        -- what the administrator decides over the client's sends
        ('factory', 'delivery_mode', 'choice', 0, 0, array['persistent', 'non-persistent']),
        ('factory', 'priority', 'integer', 0, 9, null),
        ('factory', 'time_to_live_ms', 'integer', 0, 3155760000000, null),
        ('factory', 'override_temporary', 'boolean', 0, 0, null),
        ('factory', 'persistent_mapping', 'choice', 0, 0, array['RELIABLE_PERSISTENT', 'ASSURED_PERSISTENT']),
        ('factory', 'nonpersistent_mapping', 'choice', 0, 0,
            array['BEST_EFFORT_NONPERSISTENT', 'EXPRESS_NONPERSISTENT', 'RELIABLE_NONPERSISTENT']),
        -- reliability, flow control, browsers
        ('factory', 'prefetch', 'integer', 0, 32767, null),
        ('factory', 'subscription_prefetch', 'integer', 0, 32767, null),
        ('factory', 'producer_window_bytes', 'integer', 1, 1073741823, null),
        ('factory', 'confirm_sends', 'choice', 0, 0, array['all', 'persistent', 'none']),
        ('factory', 'lease_duration_ms', 'integer', 1000, 604800000, null),
        ('factory', 'max_redeliveries', 'integer', -1, 999999, null),
        ('factory', 'commit_by_reliability', 'boolean', 0, 0, null),
        ('factory', 'browser_page_size', 'integer', 1, 10000, null),
        ('factory', 'browser_timeout_ms', 'integer', 1, 86400000, null),
        -- JMSX properties, and what the client may reach
        ('factory', 'jmsx_user_id', 'boolean', 0, 0, null),
        ('factory', 'jmsx_app_id', 'boolean', 0, 0, null),
        ('factory', 'jmsx_producer_txid', 'boolean', 0, 0, null),
        ('factory', 'jmsx_consumer_txid', 'boolean', 0, 0, null),
        ('factory', 'jmsx_rcv_timestamp', 'boolean', 0, 0, null),
        ('factory', 'predefined_only', 'boolean', 0, 0, null),
        ('xa', 'members', 'names', 1, 20, null),
        ('destination', 'destination', 'text', 1, 242, null),
        ('destination', 'delivery_mode', 'choice', 0, 0, array['application', 'persistent', 'non-persistent']),
        ('destination', 'prefetch', 'integer', 0, 32767, null)
$$;
