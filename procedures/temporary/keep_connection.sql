-- howdah.keep_connection(): report that the caller's connection lives, though it receives nothing.
--
-- Returns  the number of its temporary queues (bigint).
-- Role     howdah_producer howdah_consumer howdah_admin
--
-- Call it about twice a minute; every two seconds where messages are to stay that go with their sender (the option
-- discard_with_sender). A database session without howdah.set_connection does not need it.
create or replace function howdah.keep_connection() returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_connection constant text := nullif(current_setting('howdah.connection', true), '');
    v_key bigint;
begin
    if v_connection is not null and pg_sequence_last_value('howdah.senders_noted'::regclass) is not null then
        v_key := howdah._lock_key('sender', v_connection);
        perform pg_advisory_xact_lock_shared(v_key);  -- it lives while the row below is not yet committed
        update howdah.sender_signs s set seen_at = howdah.now()
        where s.ctid = any (array(select o.ctid from howdah.sender_signs o where o.sender = v_key
            for update skip locked));
        if not found then  -- there is none, or open transactions of its other sessions are writing all that there are
            insert into howdah.sender_signs (sender, seen_at) values (v_key, howdah.now());
        end if;
    end if;
    return (select count(howdah._note_alive(t.alive) is null) from howdah.temporary_queues t
        where t.connection = v_connection and t.boot = pg_postmaster_start_time());
end
$$;
