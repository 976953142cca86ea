-- howdah._sender(): who sends: the connection named by howdah.set_connection, or else the database session.
--
-- Returns  sender (bigint), the key of its lock; own_session, whether it is a database session.
-- Role     internal
--
-- A session holds its lock as long as it lives. It takes it in each send again, because the client may have released
-- all its advisory locks. A named connection holds its lock, shared, in each transaction that sends.
create or replace function howdah._sender(out sender bigint, out own_session boolean) returns record
language plpgsql volatile
as $$
declare
    v_connection text := nullif(current_setting('howdah.connection', true), '');
    v_key bigint;
begin
    own_session := v_connection is null or v_connection ^@ 's-';
    if not own_session then
        v_key := howdah._lock_key('sender', v_connection);
        perform pg_advisory_xact_lock_shared(v_key);
        sender := v_key;
        return;
    end if;
    sender := howdah._own_sender();
    if sender is not null and sender::text = current_setting('howdah.sender', true) then
        v_key := sender;
        if pg_try_advisory_lock(v_key) then
            return;
        end if;
        sender := null;
    end if;
    while sender is null loop
        v_key := (howdah._lock_key('sender', gen_random_uuid()::text) & ~16777215::bigint)
            | (howdah._lock_key('sender', '') & 16777215) | (15::bigint << 59);  -- 18 digits: howdah._own_sender
        sender := case when pg_try_advisory_lock(v_key) then v_key end;
    end loop;
    perform set_config('howdah.sender', sender::text, false);
end
$$;
