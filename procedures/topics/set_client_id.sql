-- howdah.set_client_id(client_id, local): say under which client id this session publishes, for subscriptions with no_local.
--
-- Raises   HD003 bad client id.
-- Role     howdah_producer howdah_consumer howdah_admin
--
-- It is a setting of the session, howdah.client_id; NULL takes it back. Behind a transaction pooler set it in each transaction, with local. A name and
-- no claim: any number of sessions may publish under it, those that belong to the client that claimed it among them.
create or replace function howdah.set_client_id(client_id text, local boolean default false) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    if client_id !~ '^[A-Za-z0-9_.-]{1,200}$' then
        raise exception using errcode = 'HD003', message = 'bad client id', hint = 'It has up to 200 characters out of A-Z a-z 0-9 . _ -';
    end if;
    perform set_config('howdah.client_id', coalesce(client_id, ''), coalesce(local, false));
end
$$;

-- howdah._claimed(): the client id that this session has claimed.
--
-- Returns  its hash (integer); NULL: it has claimed none.
-- Role     internal
--
-- Known by the lock itself, for a setting does not outlive a rollback, and the lock does.
create or replace function howdah._claimed() returns integer
language sql volatile
as $$
    select l.objid::bigint::bit(32)::integer from pg_locks l
    where l.locktype = 'advisory' and l.pid = pg_backend_pid() and l.classid = 1213154386 and l.objsubid = 2
$$;

-- howdah.claim_client_id(client_id): claim a client id for this session, and publish under it, until the session ends or releases it.
--
-- Raises   HD003 bad client id; HD005 the session has claimed another one; HD010 called out of a maintenance command;
--          HD038 another session has claimed it.
-- Role     howdah_producer howdah_consumer howdah_admin
--
-- JMS 2.0, 6.1.2: of those who claim it one client at a time has a client id. Again for the one that the session has: nothing changes. An advisory lock of
-- the session: it outlives the transaction, a rollback too, ends with the session whatever becomes of that, and does not work behind a pooler that shares sessions.
create or replace function howdah.claim_client_id(client_id text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_claimed integer := howdah._claimed();
begin
    perform howdah._refuse_maintenance();
    if client_id is null then
        raise exception using errcode = 'HD003', message = 'a client id to be claimed cannot be NULL', hint = 'Call howdah.release_client_id() to give one back.';
    end if;
    perform howdah.set_client_id(client_id);
    if v_claimed = (howdah._lock_key('client id', client_id) & 2147483647)::integer then
        return;
    elsif v_claimed is not null then
        raise exception using errcode = 'HD005', message = 'this session has claimed another client id',
            hint = 'A client has one client id: call howdah.release_client_id() first, or claim the other one in a session of its own.';
    elsif not pg_try_advisory_lock(1213154386, (howdah._lock_key('client id', client_id) & 2147483647)::integer) then
        raise exception using errcode = 'HD038', message = format('client id %s is in use', quote_literal(client_id)),
            hint = 'Another session has claimed it. Choose another one, or wait until that session ends or calls howdah.release_client_id().';
    end if;
end
$$;

-- howdah.release_client_id(): give back the client id that this session has claimed, and publish under none.
--
-- Returns  whether it had claimed one.
-- Raises   HD010 called out of a maintenance command.
-- Role     howdah_producer howdah_consumer howdah_admin
create or replace function howdah.release_client_id() returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_claimed integer := howdah._claimed();
begin
    perform howdah._refuse_maintenance();
    perform set_config('howdah.client_id', '', false);
    return v_claimed is not null and pg_advisory_unlock(1213154386, v_claimed);
end
$$;
