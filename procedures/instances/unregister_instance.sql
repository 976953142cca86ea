-- howdah.unregister_instance(instance_id): end an instance that has stopped, with all that it registered.
--
-- Returns  true if it was registered (boolean).
-- Raises   HD010 another role registered it, or called from a maintenance command; HD015 it ended just now.
-- Role     howdah_consumer howdah_admin
--
-- Its leases are over at once, so that another one need not wait for them.
create or replace function howdah.unregister_instance(instance_id uuid) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_instance howdah.instances;
begin
    perform from howdah.instances i where i.instance_id = unregister_instance.instance_id for update;
    if not found then
        return false;
    end if;
    v_instance := howdah._instance(instance_id);
    delete from howdah.instances i where i.instance_id = v_instance.instance_id;
    perform howdah._end_registrations(v_instance.instance_id);
    delete from howdah.instance_positions p where p.name = v_instance.name and p.name ~ ':[0-9]+$';
    update howdah.lock l set expires_at = howdah.now()
    where l.name in ('changes', 'exclusive') and l.holder = v_instance.instance_id::text
      and l.expires_at > howdah.now();
    return true;
end
$$;
