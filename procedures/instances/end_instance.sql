-- howdah.end_instance(name): tell an instance to end, once it has finished what it has in hand.
--
-- Returns  true if there is one (boolean).
-- Raises   HD010 called from a maintenance command.
-- Role     howdah_admin
create or replace function howdah.end_instance(name text) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_was boolean;
begin
    select i.ending into v_was from howdah.instances i where i.name = end_instance.name for update;
    if not found then
        return false;
    end if;
    update howdah.instances i set ending = true where i.name = end_instance.name and not i.ending;
    perform howdah._record_change('instance', name, 'altered', jsonb_build_object('ending', v_was), '{"ending": true}');
    return true;
end
$$;
