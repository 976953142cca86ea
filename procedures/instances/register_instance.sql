-- howdah.register_instance(name, host, pid, version, settings): register an instance: a set of worker processes.
--
-- Returns  its identity (uuid), for heartbeats.
-- Raises   HD003 bad name; HD005 wrong argument; HD010 called from a maintenance command; HD046 an instance of that
--          name lives, or settings contradict those of the cluster.
-- Role     howdah_consumer howdah_admin
--
-- settings is a JSON object of cluster_mode, cluster_master and exclusive, as the instance was told. A setting that is
-- left out is taken from howdah.cluster_settings(), the one source for all instances. An instance that was told
-- otherwise is refused.
--
-- It begins as INITIALIZING, and its heartbeats lead it on. With a master of changes, it reads the record from where an
-- instance of its name stood. Otherwise it reads what comes next.
create or replace function howdah.register_instance(
    name text, host text, pid integer, version text default null, settings jsonb default '{}'
) returns uuid
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_id uuid := gen_random_uuid();
    v_is constant jsonb := howdah.cluster_settings();
    v_wrong text;
begin
    perform howdah._refuse_maintenance();
    if name is null or name !~ '^[A-Za-z0-9._:/-]{1,200}$' then
        raise exception using errcode = 'HD003',
            message = format('bad instance name %s', coalesce(quote_literal(left(name, 250)), 'NULL')),
            hint = 'A name has 1 to 200 characters out of A-Z a-z 0-9 . _ - / :';
    elsif host is null or pid is null or pid < 0 or length(host) > 1000 or length(version) > 200
          or jsonb_typeof(settings) is distinct from 'object'
          or exists (select from jsonb_object_keys(settings) k
                     where k not in ('cluster_mode', 'cluster_master', 'exclusive')) then
        raise exception using errcode = 'HD005', message = 'an instance needs a host, a pid and settings',
            hint = 'settings is a JSON object of cluster_mode, cluster_master and exclusive, or {}.';
    end if;
    select s.key into v_wrong from jsonb_each(settings) s where s.value is distinct from v_is -> s.key order by 1;
    if v_wrong is not null then
        raise exception using errcode = 'HD046',
            message = format('instance %s was told %s %s, but the cluster has %s', quote_literal(name), v_wrong,
                left((settings -> v_wrong)::text, 200), coalesce((v_is -> v_wrong)::text, 'null')),
            hint = 'Leave the setting out: howdah.cluster_settings() is the source. howdah.set_cluster changes it.';
    end if;
    perform howdah._forget_instances(null);
    insert into howdah.instances (instance_id, name, state, registered_as, host, pid, version, settings, started_at,
        heartbeat_at)
    values (v_id, register_instance.name, 'INITIALIZING', howdah._caller(), register_instance.host,
        register_instance.pid, register_instance.version, register_instance.settings, howdah.now(), howdah.now())
    on conflict do nothing;
    if not found then
        raise exception using errcode = 'HD046', message = format('instance %s is running', quote_literal(name)),
            hint = 'Give this one another name. A killed one is forgotten after engine.instance_timeout_seconds.';
    end if;
    perform howdah._position_at(name, v_is ->> 'cluster_mode' = 'master');
    return v_id;
end
$$;
