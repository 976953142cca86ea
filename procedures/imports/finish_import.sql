-- howdah.finish_import(source): end an import after its final pass, and resume what it had paused.
--
-- Returns  the queues and subscriptions that are received from again (text[]).
-- Raises   HD001, HD012 never, for what is not there is left out; HD005 no such import; HD010 called from a maintenance
--          command; HD045 the master of changes is away.
-- Role     howdah_admin
--
-- The record of what came over stays, so that a further pass stores nothing twice. See howdah.forget_import.
create or replace function howdah.finish_import(source text) returns text[]
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_import howdah.imports := howdah._import(source);
    v_names text[] := array(
        select d.name from howdah.import_holds h join howdah.destinations d on d.id = h.destination_id
        where h.import_id = v_import.import_id and h.paused and d.dropped_at is null and d.own_receiving_paused
        order by d.name);
begin
    perform howdah.resume(n.name, sending => false, receiving => true) from unnest(v_names) n(name);
    delete from howdah.import_holds h where h.import_id = v_import.import_id;
    update howdah.imports i set finished_at = howdah.now()
    where i.import_id = v_import.import_id and i.finished_at is null;
    return v_names;
end
$$;
