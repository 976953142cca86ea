-- howdah.lookup(name, overrides): find an object by its name, with the attributes that hold for this client.
--
-- Returns  one row: the object's name, kind and attributes. If it is read-only, overrides are ignored. Otherwise they
--          stand in place of its own attributes, and null takes one away.
-- Raises   HD003, HD004, HD005 as howdah.create_object; HD047 there is no such object.
-- Role     howdah_admin howdah_producer howdah_consumer howdah_browser howdah_auditor
create or replace function howdah.lookup(name text, overrides jsonb default '{}') returns table (
    object text, kind text, attributes jsonb, read_only boolean, changed_at timestamptz
)
language plpgsql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_object howdah.objects;
begin
    select o.* into v_object from howdah.objects o where o.name = lookup.name;
    if not found then
        perform howdah._refuse_name(lookup.name);
    end if;
    if not v_object.read_only and overrides <> '{}' then
        v_object.attributes := howdah._with_attributes(v_object.attributes, overrides);
        perform howdah._check_object(v_object.name, v_object.kind, v_object.attributes);
    end if;
    return query select v_object.name, v_object.kind, v_object.attributes, v_object.read_only, v_object.changed_at;
end
$$;
