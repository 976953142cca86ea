-- howdah._forget_instances(p_but): remove instances that have been silent for too long, except p_but, with all that
-- they registered.
--
-- Returns  how many (bigint).
-- Role     internal
--
-- Each heartbeat of the others calls it, so no daemon is needed. Where an instance stood in the record is kept, unless
-- it had no name of its own.
create or replace function howdah._forget_instances(p_but uuid) returns bigint
language plpgsql volatile
as $$
declare
    v_dead howdah.instances;
    v_count bigint := 0;
begin
    for v_dead in
        delete from howdah.instances i where i.instance_id = any (array(
            select d.instance_id from howdah.instances d cross join howdah.engine e
            where d.heartbeat_at < howdah.now() - e.instance_timeout_seconds * interval '1 second'
              and d.instance_id is distinct from p_but
            for update of d skip locked))
        returning i.*
    loop
        perform howdah._end_registrations(v_dead.instance_id);
        delete from howdah.instance_positions p where p.name = v_dead.name and p.name ~ ':[0-9]+$';
        v_count := v_count + 1;
    end loop;
    return v_count;
end
$$;
