-- howdah.create_object(name, kind, attributes, read_only): create an object that clients look up by name.
--
-- Raises   HD002 an object of that name exists already; HD003 bad name; HD004 an attribute is unknown or wrong; HD005
--          unknown kind, an attribute is missing or contradicts another, or one holds a password; HD010 called from a
--          maintenance command; HD045 the master of changes is away.
-- Role     howdah_admin
--
-- kind is connection_factory, xa_connection_factory, queue or topic. attributes is a JSON object. A queue or topic
-- needs destination, its name in the engine; it need not exist yet. An xa_connection_factory needs members, names of
-- connection factories. read_only: nobody sets attributes, and clients' overrides are ignored.
create or replace function howdah.create_object(
    name text, kind text, attributes jsonb default '{}', read_only boolean default false
) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_object howdah.objects;
begin
    perform howdah._refuse_maintenance();
    perform howdah._check_object(create_object.name, create_object.kind, create_object.attributes);
    insert into howdah.objects as o (name, kind, attributes, read_only, created_at, created_by, changed_at)
    values (create_object.name, create_object.kind, create_object.attributes, coalesce(create_object.read_only, false),
        howdah.now(), howdah._caller(), howdah.now())
    on conflict on constraint pk_objects do nothing
    returning o.* into v_object;
    if not found then
        raise exception using errcode = 'HD002',
            message = format('there is an object %s', quote_literal(create_object.name)),
            hint = 'Change it with howdah.alter_object(name, attributes), or drop it.';
    end if;
    perform howdah._record_change('object', create_object.name, 'created', null, howdah._object_json(v_object));
end
$$;
