-- howdah.claim_client_id(client_id): claim a client id for this session and publish under it, until the session ends or
-- releases it.
--
-- Raises   HD003 bad client id; HD005 the session has claimed another client id; HD010 called from a maintenance
--          command; HD038 another session has claimed it.
-- Role     howdah_producer howdah_consumer howdah_admin
--
-- JMS 2.0, section 6.1.2: only one client at a time has a client id. That holds among the sessions that claim it.
-- Claiming the id that the session already has changes nothing.
--
-- The claim is an advisory lock of the session. It outlives the transaction, even a rollback, and ends with the session
-- in any case. It does not work behind a pooler that shares sessions.
create or replace function howdah.claim_client_id(client_id text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_claimed integer := howdah._claimed_client_id();
begin
    perform howdah._refuse_maintenance();
    if client_id is null then
        raise exception using errcode = 'HD003', message = 'a client id to be claimed cannot be NULL',
            hint = 'Call howdah.release_client_id() to give one back.';
    end if;
    perform howdah.set_client_id(client_id);
    if v_claimed = (howdah._lock_key('client id', client_id) & 2147483647)::integer then
        return;
    elsif v_claimed is not null then
        raise exception using errcode = 'HD005', message = 'this session has claimed another client id',
            hint =
                'A client has one client id: call howdah.release_client_id() first, or claim the other one in a '
                'session of its own.';
    elsif not pg_try_advisory_lock(1213154386, (howdah._lock_key('client id', client_id) & 2147483647)::integer) then
        raise exception using errcode = 'HD038', message = format('client id %s is in use', quote_literal(client_id)),
            hint =
                'Another session has claimed it. Choose another one, or wait until that session ends or calls '
                'howdah.release_client_id().';
    end if;
end
$$;
