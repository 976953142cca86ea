-- howdah._await_recorders(p_destination_id, p_message_id): take turns with other sessions that record failures of a
-- message, or of a queue.
--
-- Role     internal
--
-- One of the two arguments is NULL. The lock's key changes with each incident, so nobody who has seen it in pg_locks
-- can keep the next recorder waiting. A transaction with an old snapshot would never see the change.
create or replace function howdah._await_recorders(p_destination_id integer, p_message_id bigint) returns void
language plpgsql volatile
as $$
declare
    v_at bigint;
    v_seen bigint := -1;
begin
    loop
        if p_message_id is not null then
            v_at := (select count(*) from howdah.poison_details p where p.message_id = p_message_id);
        else
            v_at := coalesce((select p.incident_id from howdah.poison_details p
                where p.destination_id = p_destination_id
                              order by p.incident_id desc limit 1), 0);
        end if;
        exit when v_at = v_seen or v_seen >= 0 and howdah._has_old_snapshot();
        perform pg_advisory_xact_lock(howdah._lock_key('failure',
            coalesce('queue ' || p_destination_id, p_message_id::text) || ':' || v_at));
        v_seen := v_at;
    end loop;
end
$$;
