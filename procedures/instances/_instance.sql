-- howdah._instance(p_instance_id): the row of a live instance that the caller may speak for.
--
-- Returns  howdah.instances.
-- Raises   HD010 another role registered it; HD015 it is not registered, or no longer.
-- Role     internal
create or replace function howdah._instance(p_instance_id uuid) returns howdah.instances
language plpgsql volatile
as $$
declare
    v_instance howdah.instances;
begin
    perform howdah._refuse_maintenance();
    select i.* into v_instance from howdah.instances i where i.instance_id = p_instance_id;
    if not found then
        raise exception using errcode = 'HD015',
            message = format('instance %s is not registered', coalesce(p_instance_id::text, 'NULL')),
            hint = 'It was silent for too long and was removed; register it again.';
    elsif v_instance.registered_as <> howdah._caller()
          and not (select howdah._has_role(e.admin_role) from howdah.engine e) then
        raise exception using errcode = 'HD010', message = format('role %s did not register instance %s',
            quote_ident(howdah._caller()), quote_literal(v_instance.name)),
            hint = 'Only the role that registered it speaks for it.';
    end if;
    return v_instance;
end
$$;
