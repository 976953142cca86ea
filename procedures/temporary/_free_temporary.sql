-- howdah._free_temporary(): an ended temporary queue that no transaction uses any more.
--
-- Returns  howdah.temporary_queues; destination_id is NULL if none of ten was free.
-- Role     internal
create or replace function howdah._free_temporary() returns howdah.temporary_queues
language plpgsql volatile set enable_seqscan = off set jit = off
as $$
declare
    v_free howdah.temporary_queues;
    v_last integer := 0;
begin
    for v_try in 1..10 loop
        select t.* into v_free from howdah.temporary_queues t
        where t.connection is null and t.destination_id > v_last
        order by t.connection, t.destination_id limit 1 for update skip locked;
        if not found or pg_try_advisory_xact_lock(howdah._lock_key('temporary sender', v_free.destination_id::text))
            and pg_try_advisory_xact_lock(howdah._lock_key('temporary receiver', v_free.destination_id::text)) then
            return v_free;
        end if;
        v_last := v_free.destination_id;
    end loop;
    return null;
end
$$;
