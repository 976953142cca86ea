-- howdah.drop_object(name): drop an object; what clients made from it goes on.
--
-- Returns  true if there was one (boolean).
-- Raises   HD010 called from a maintenance command; HD045 the master of changes is away.
-- Role     howdah_admin
create or replace function howdah.drop_object(name text) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_object howdah.objects;
begin
    perform howdah._refuse_maintenance();
    delete from howdah.objects o where o.name = drop_object.name returning o.* into v_object;
    if not found then
        return false;
    end if;
    perform howdah._record_change('object', v_object.name, 'dropped', howdah._object_json(v_object), null);
    return true;
end
$$;
