-- howdah.quiesce_instance(name): let an instance receive nothing new, and let what is under way end.
--
-- Returns  true if it was not quiesced (boolean).
-- Raises   HD005 there is no such instance; HD010 called from a maintenance command.
-- Role     howdah_admin
--
-- Its workers end within seconds, once they have finished what they have in hand. The others and plain SQL go on.
create or replace function howdah.quiesce_instance(name text) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_by text;
begin
    select i.quiesced_by into v_by from howdah.instances i where i.name = quiesce_instance.name for update;
    if not found then
        raise exception using errcode = 'HD005', message = format('there is no instance %s',
            coalesce(quote_literal(left(name, 250)), 'NULL')),
            hint = 'See howdah.list_instances().';
    end if;
    update howdah.instances i set quiesced_by = howdah._caller()
    where i.name = quiesce_instance.name and i.quiesced_by is null;
    perform howdah._record_change('instance', name, 'altered', '{"quiesced": false}', '{"quiesced": true}')
    where v_by is null;
    return v_by is null;
end
$$;
