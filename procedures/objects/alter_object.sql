-- howdah.alter_object(name, attributes, read_only): set attributes of an object; those that are not named stay.
--
-- Raises   HD003, HD004, HD005, HD010 as howdah.create_object; HD047 there is no such object; HD048 it is read-only;
--          HD045 the master of changes is away.
-- Role     howdah_admin
--
-- null takes an attribute away, so that its default holds. read_only NULL: it stays. A read-only object takes only
-- read_only => false, alone or with the attributes to set.
create or replace function howdah.alter_object(
    name text, attributes jsonb default '{}', read_only boolean default null
) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_before howdah.objects;
    v_object howdah.objects;
begin
    perform howdah._refuse_maintenance();
    select o.* into v_before from howdah.objects o where o.name = alter_object.name for update;
    if not found then
        perform howdah._refuse_name(alter_object.name);
    elsif v_before.read_only and alter_object.read_only is distinct from false then
        raise exception using errcode = 'HD048',
            message = format('object %s is read-only', quote_literal(v_before.name)),
            hint = 'An administrator makes it writable: howdah.alter_object(name, read_only => false).';
    end if;
    v_object := v_before;
    v_object.attributes := howdah._with_attributes(v_before.attributes, alter_object.attributes);
    v_object.read_only := coalesce(alter_object.read_only, v_before.read_only);
    perform howdah._check_object(v_object.name, v_object.kind, v_object.attributes);
    update howdah.objects o
    set attributes = v_object.attributes, read_only = v_object.read_only, changed_at = howdah.now()
    where o.name = v_object.name and (o.attributes, o.read_only) is distinct from
        (v_object.attributes, v_object.read_only);
    perform howdah._record_change('object', v_object.name, 'altered', howdah._object_json(v_before),
        howdah._object_json(v_object));
end
$$;
