-- howdah._parks_waiting(p_queue, p_now): park messages that wait for the delay of a recorded failure and are still in
-- their place.
--
-- Returns  true if there was such a message (boolean).
-- Role     internal
--
-- In strict order such a message holds up all behind it, so it is looked for before any message is taken. Few wait
-- there at a time.
create or replace function howdah._parks_waiting(p_queue howdah.destinations, p_now timestamptz) returns boolean
language plpgsql volatile
    set enable_seqscan = off set jit = off
as $$
declare
    v_incident record;
    v_found record;
    v_parked boolean := false;
begin
    if pg_sequence_last_value(p_queue.failing) is null then
        return false;
    end if;
    for v_incident in
        select p.message_id, p.stage from howdah.poison_details p
        where p.destination_id = p_queue.id and p.due_at > p_now
        group by p.message_id, p.stage
    loop
        continue when exists (select from howdah.parked w
            where w.ctid = any (howdah._parked_rows(p_queue.id, array[v_incident.message_id])))
            or (howdah._waits_until(p_queue.id, v_incident.message_id, v_incident.stage) > p_now) is not true;
        select * into v_found from howdah._find(p_queue.id, v_incident.message_id, null, null);
        if v_found.free and (v_found.message).stage = v_incident.stage and v_found.place <> 'parked' then
            perform howdah._dispose(p_queue.id, v_found.message, v_found.nonpersistent, v_found.place, p_now);
            v_parked := true;
        end if;
    end loop;
    return v_parked;
end
$$;
