-- howdah.hold_import(source, queue): pause receiving from a queue or subscription until the final pass of an import.
--
-- Returns  true if it was not paused (boolean); howdah.finish_import then resumes it.
-- Raises   HD001 no such queue; HD005 no such import; HD010 not allowed; HD012 it belongs to the engine; HD045 the
--          master of changes is away.
-- Role     howdah_admin
--
-- While the other system runs, its consumers take the messages. Consumers here would take the copies as well. After the
-- final pass the call pauses nothing.
create or replace function howdah.hold_import(source text, queue text) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_import howdah.imports := howdah._import(source);
    v_destination howdah.destinations := howdah._own_queue(queue);
    v_pauses boolean := v_import.finished_at is null and not v_destination.own_receiving_paused;
begin
    if v_pauses then
        perform howdah.pause(queue, sending => false, receiving => true);
    end if;
    insert into howdah.import_holds (import_id, destination_id, paused)
    values (v_import.import_id, v_destination.id, v_pauses)
    on conflict on constraint pk_import_holds do update set paused = import_holds.paused or excluded.paused;
    return v_pauses;
end
$$;
