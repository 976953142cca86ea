-- howdah.begin_import(source): begin to copy messages from the store of another system, or go on with it.
--
-- Returns  when it began (timestamptz).
-- Raises   HD005 source is NULL, empty or longer than 1,000 characters; HD010 called from a maintenance
--          command; HD045 the master of changes
--          is away.
-- Role     howdah_admin
--
-- source identifies the store. Its messages are on record under this name, so that each comes over once. A second call
-- changes nothing. howdah import activemq makes all calls of this group.
create or replace function howdah.begin_import(source text) returns timestamptz
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_import howdah.imports;
begin
    if source is null or length(source) not between 1 and 1000 then
        raise exception using errcode = 'HD005', message = 'source has 1 to 1000 characters',
            hint = 'It identifies the store that messages are copied from.';
    end if;
    perform howdah._refuse_maintenance();
    perform howdah._check_changes();
    insert into howdah.imports (source, created_at, created_by)
    values (begin_import.source, howdah.now(), howdah._caller())
    on conflict do nothing;
    v_import := howdah._import(source);
    return v_import.created_at;
end
$$;
