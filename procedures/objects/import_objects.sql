-- howdah.import_objects(objects, replace): create the objects of a document of howdah.export_objects, all or none.
--
-- Returns  how many were created or changed (bigint).
-- Raises   HD002 an object of one's name is there with another kind or other attributes, and replace is false; HD003,
--          HD004, HD005, HD010 as howdah.create_object; HD045 the master of changes is away.
-- Role     howdah_admin
--
-- An object that is there as the document has it stays untouched, and so do those that the document does not name. With
-- replace, others become as the document has them, the read-only ones too.
create or replace function howdah.import_objects(objects jsonb, replace boolean default false) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_new jsonb;
    v_before howdah.objects;
    v_after howdah.objects;
    v_count bigint := 0;
begin
    perform howdah._refuse_maintenance();
    if jsonb_typeof(objects) is distinct from 'array' then
        raise exception using errcode = 'HD005', message = 'a document of objects is a JSON array',
            hint = 'howdah.export_objects() writes one.';
    end if;
    for v_new in select e from jsonb_array_elements(objects) e order by e ->> 'name' loop
        if (jsonb_typeof(v_new) = 'object' and v_new - array['name', 'kind', 'attributes', 'read_only'] = '{}'
            and coalesce(jsonb_typeof(v_new -> 'read_only'), 'boolean') = 'boolean') is not true then
            raise exception using errcode = 'HD005',
                message = format('%s is no object of a document', left(v_new::text, 100)),
                hint = 'It has name, kind, attributes and read_only.';
        end if;
        perform howdah._check_object(v_new ->> 'name', v_new ->> 'kind', coalesce(v_new -> 'attributes', '{}'));
        select o.* into v_before from howdah.objects o where o.name = v_new ->> 'name' for update;
        if not found then
            perform howdah.create_object(v_new ->> 'name', v_new ->> 'kind', coalesce(v_new -> 'attributes', '{}'),
                coalesce((v_new ->> 'read_only')::boolean, false));
            v_count := v_count + 1;
            continue;
        end if;
        v_after := v_before;
        v_after.kind := v_new ->> 'kind';
        v_after.attributes := coalesce(v_new -> 'attributes', '{}');
        v_after.read_only := coalesce((v_new ->> 'read_only')::boolean, false);
        continue when v_after = v_before;
        if replace is not true then
            raise exception using errcode = 'HD002',
                message = format('there is another object %s', quote_literal(v_before.name)),
                hint = 'Say replace => true, or drop it.';
        end if;
        update howdah.objects o
        set kind = v_after.kind, attributes = v_after.attributes, read_only = v_after.read_only,
            changed_at = howdah.now()
        where o.name = v_after.name;
        perform howdah._record_change('object', v_after.name, 'altered', howdah._object_json(v_before),
            howdah._object_json(v_after));
        v_count := v_count + 1;
    end loop;
    return v_count;
end
$$;
