-- howdah.resume_instance(name): let a quiesced instance receive again.
--
-- Returns  true if it was quiesced (boolean).
-- Raises   HD005 there is no such instance; HD010 called from a maintenance command.
-- Role     howdah_admin
create or replace function howdah.resume_instance(name text) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_by text;
begin
    select i.quiesced_by into v_by from howdah.instances i where i.name = resume_instance.name for update;
    if not found then
        raise exception using errcode = 'HD005', message = format('there is no instance %s',
            coalesce(quote_literal(left(name, 250)), 'NULL')),
            hint = 'See howdah.list_instances().';
    end if;
    update howdah.instances i set quiesced_by = null where i.name = resume_instance.name;
    perform howdah._record_change('instance', name, 'altered', '{"quiesced": true}', '{"quiesced": false}')
    where v_by is not null;
    return v_by is not null;
end
$$;
