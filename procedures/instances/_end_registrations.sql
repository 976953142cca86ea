-- howdah._end_registrations(p_instance_id): take away the workers and consumers of an instance that has ended.
--
-- Role     internal
--
-- A consumer whose session still works is left to howdah._close_dead, which its other signs of life decide. Receivers
-- that waited behind one are woken.
create or replace function howdah._end_registrations(p_instance_id uuid) returns void
language plpgsql volatile
as $$
declare
    v_destination integer;
begin
    delete from howdah.workers w where w.instance_id = p_instance_id;
    for v_destination in
        with ended as (
            update howdah.consumers c set seen_at = '-infinity' where c.ctid = any (array(
                select u.ctid from howdah.consumers u where u.instance_id = p_instance_id for update skip locked))
            returning c.destination_id
        )
        select distinct e.destination_id from ended e order by 1
    loop
        perform howdah._close_dead(v_destination, howdah.now());
        perform howdah._wake(d.id, d.waiting) from howdah.destinations d where d.id = v_destination;
    end loop;
end
$$;
