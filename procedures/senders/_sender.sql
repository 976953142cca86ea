-- howdah._sender(): who sends: the connection named by howdah.set_connection, or else the database session.
--
-- Returns  sender (bigint), the key of its lock; own_session, whether it is a database session.
-- Role     internal
--
-- A session holds its lock as long as it lives. A named connection holds its lock, shared, in each transaction that
-- sends.
create or replace function howdah._sender(out sender bigint, out own_session boolean) returns record
language plpgsql volatile
as $$
declare
    v_connection text := nullif(current_setting('howdah.connection', true), '');
begin
    own_session := v_connection is null or v_connection ^@ 's-';
    if not own_session then
        sender := howdah._lock_key('sender', v_connection);
        perform pg_advisory_xact_lock_shared(sender);
        return;
    end if;
    sender := howdah._own_sender();
    while sender is null loop
        sender := (howdah._lock_key('sender', gen_random_uuid()::text) & ~16777215::bigint)
            | (howdah._lock_key('sender', '') & 16777215);
        if not pg_try_advisory_lock(sender) then
            sender := null;
        end if;
    end loop;
    perform set_config('howdah.sender', sender::text, false);
end
$$;
