-- howdah.change_master(name): make another instance the master of changes.
--
-- Returns  true if that is new (boolean).
-- Raises   HD003 bad name; HD005 name is NULL; HD010 called from a maintenance command.
-- Role     howdah_admin
--
-- The record stays where it is, for it is in the database. Changes are accepted once the new master runs.
create or replace function howdah.change_master(name text) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    if name is null then
        raise exception using errcode = 'HD005', message = 'the master of changes has a name',
            hint = 'howdah.set_cluster(''none'') is the mode without one.';
    end if;
    return howdah.set_cluster('master', name);
end
$$;
