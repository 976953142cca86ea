-- howdah.forget_import(source): forget an import and the record of what came over.
--
-- Returns  how many messages were on record (bigint).
-- Raises   HD005 no such import, or it is not finished; HD010 called from a maintenance command; HD045 the master of
--          changes is away.
-- Role     howdah_admin
--
-- A further pass copies everything anew.
create or replace function howdah.forget_import(source text) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_import howdah.imports := howdah._import(source);
    v_count bigint;
begin
    if v_import.finished_at is null then
        raise exception using errcode = 'HD005', message = 'the import is not finished, and may have paused queues',
            hint = 'End it with howdah.finish_import(source) first, which resumes them.';
    end if;
    with gone as (delete from howdah.imported i where i.import_id = v_import.import_id returning 1)
    select count(*) into v_count from gone;
    delete from howdah.import_holds h where h.import_id = v_import.import_id;
    delete from howdah.imports i where i.import_id = v_import.import_id;
    return v_count;
end
$$;
