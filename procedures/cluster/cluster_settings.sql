-- howdah.cluster_settings(): the settings that all instances have in common.
--
-- Returns  a JSON object. cluster_mode is none or master; cluster_master is its name, or null. exclusive and
--          instance_timeout_seconds are the engine's. record_id is that of the record of changes. accepts_changes says
--          whether the configuration can be changed now.
-- Role     howdah_admin howdah_producer howdah_consumer howdah_browser howdah_auditor
create or replace function howdah.cluster_settings() returns jsonb
language sql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
    select jsonb_build_object('cluster_mode', e.cluster_mode, 'cluster_master', e.cluster_master, 'exclusive',
        e.exclusive, 'instance_timeout_seconds', e.instance_timeout_seconds, 'record_id', e.record_id,
        'accepts_changes', howdah._accepts_changes())
    from howdah.engine e
$$;
