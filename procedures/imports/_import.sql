-- howdah._import(p_source): the import from a store, locked: two passes at once would store messages twice.
--
-- Returns  its row.
-- Raises   HD005 it has not begun; HD010 called from a maintenance command; HD045 the master of changes is away.
-- Role     internal
create or replace function howdah._import(p_source text) returns howdah.imports
language plpgsql volatile
as $$
declare
    v_import howdah.imports;
begin
    perform howdah._refuse_maintenance();
    perform howdah._check_changes();
    select i.* into v_import from howdah.imports i where i.source = p_source for no key update;
    if not found then
        raise exception using errcode = 'HD005', message = 'no import from this source has begun',
            hint = 'See howdah.list_imports() and howdah.begin_import(source).';
    end if;
    return v_import;
end
$$;
