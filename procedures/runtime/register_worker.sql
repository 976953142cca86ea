-- howdah.register_worker(name, host, pid, sessions, queues, instance): register a worker process.
--
-- Returns  its identity (uuid), for heartbeats.
-- Raises   HD005 wrong argument.
-- Role     howdah_consumer howdah_admin
--
-- instance: the instance with which it ends.
create or replace function howdah.register_worker(
    name text, host text, pid integer, sessions integer, queues text[], instance uuid default null
) returns uuid
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_id uuid := gen_random_uuid();
begin
    if name is null or host is null or pid is null or sessions is null or queues is null or pid < 0 or sessions < 0 then
        raise exception using errcode = 'HD005', message = 'a worker needs a name, host, pid, sessions and queues',
            hint = 'pid and sessions are not negative.';
    end if;
    insert into howdah.workers (worker_id, name, host, pid, sessions, queues, started_at, heartbeat_at, in_hand,
        instance_id)
    values (v_id, name, host, pid, sessions, queues, howdah.now(), howdah.now(), '{}', instance);
    return v_id;
end
$$;
