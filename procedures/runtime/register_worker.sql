-- howdah.register_worker(name, host, pid, sessions, queues): make a worker process known.
--
-- Returns  its identity (uuid) for heartbeats.
-- Raises   HD005 wrong argument.
-- Role     howdah_consumer howdah_admin
create or replace function howdah.register_worker(name text, host text, pid integer, sessions integer, queues text[]) returns uuid
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_id uuid := gen_random_uuid();
begin
    if name is null or host is null or pid is null or sessions is null or queues is null or pid < 0 or sessions < 0 then
        raise exception using errcode = 'HD005', message = 'a worker needs a name, host, pid, sessions and queues',
            hint = 'pid and sessions are not negative.';
    end if;
    insert into howdah.workers (worker_id, name, host, pid, sessions, queues, started_at, heartbeat_at, in_hand)
    values (v_id, name, host, pid, sessions, queues, howdah.now(), howdah.now(), '{}');
    return v_id;
end
$$;

-- howdah.heartbeat(worker_id, in_hand): say that a worker lives and how many messages it has in hand.
--
-- Returns  nothing; in_hand is a JSON object of queue name to number of messages.
-- Raises   HD005 in_hand is no JSON object; HD015 the worker is not registered (any more).
-- Role     howdah_consumer howdah_admin
create or replace function howdah.heartbeat(worker_id uuid, in_hand jsonb default '{}') returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    if in_hand is null or jsonb_typeof(in_hand) <> 'object'
       or jsonb_path_exists(in_hand, 'strict $.* ? (@.type() != "number" || @ < 0 || @ > 1000000000 || @.floor() != @)') then
        raise exception using errcode = 'HD005', message = 'in_hand must be a JSON object of queue name to number of messages';
    end if;
    update howdah.workers w set heartbeat_at = howdah.now(), in_hand = heartbeat.in_hand where w.worker_id = heartbeat.worker_id;
    if not found then
        raise exception using errcode = 'HD015', message = format('worker %s is not registered', worker_id),
            hint = 'It was silent for too long and was removed; register it again.';
    end if;
end
$$;

-- howdah.unregister_worker(worker_id): a worker has ended; a second call does nothing.
--
-- Role     howdah_consumer howdah_admin
create or replace function howdah.unregister_worker(worker_id uuid) returns void
language sql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
    delete from howdah.workers w where w.worker_id = unregister_worker.worker_id
$$;

-- howdah.list_workers(): the registered worker processes.
--
-- Returns  one row a process; silent_for is the time since its last heartbeat.
-- Role     howdah_admin howdah_consumer howdah_browser howdah_auditor
create or replace function howdah.list_workers() returns table (
    worker_id uuid, name text, host text, pid integer, sessions integer, queues text[], started_at timestamptz,
    silent_for interval, in_hand jsonb
)
language sql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
    select w.worker_id, w.name, w.host, w.pid, w.sessions, w.queues, w.started_at, howdah.now() - w.heartbeat_at, w.in_hand
    from howdah.workers w order by w.name, w.started_at
$$;
