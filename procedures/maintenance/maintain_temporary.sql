-- howdah.maintain_temporary(lock_epoch): drop temporary queues whose connections are gone.
--
-- Returns  the number of queues dropped (bigint).
-- Raises   HD014 the maintenance lock is not held with this epoch.
-- Role     howdah_consumer howdah_admin
--
-- Such queues are refused as soon as the connection is gone. This call frees their space, and discards late answers.
-- lock_epoch NULL: run by hand.
create or replace function howdah.maintain_temporary(lock_epoch bigint default null) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
    v_queue howdah.temporary_queues;
    v_count bigint := 0;
begin
    if lock_epoch is not null then
        perform howdah._fence('maintenance', lock_epoch);
    end if;
    for v_queue in
        select t.* from howdah.temporary_queues t
        where t.connection is not null and (t.boot <> pg_postmaster_start_time()
            or t.connection is distinct from current_setting('howdah.connection', true)
            and not howdah._connection_lives(t))
    loop
        v_count := v_count + howdah._drop_temporary(v_queue)::integer;
    end loop;
    for v_queue in
        select t.* from howdah.temporary_queues t
        where t.connection is null and exists (select from howdah.msgs_nonpersistent n
            where n.destination_id = t.destination_id)
    loop
        -- Between the lock and the end of this transaction, nobody can start to use it.
        if pg_try_advisory_xact_lock(howdah._lock_key('temporary sender', v_queue.destination_id::text))
           and exists (select from howdah.temporary_queues t
               where t.destination_id = v_queue.destination_id and t.connection is null) then
            perform howdah._clear_temporary(v_queue.destination_id);
        end if;
    end loop;
    return v_count;
end
$$;
