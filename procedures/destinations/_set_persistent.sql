-- howdah._set_persistent(): make sends to every queue and topic store persistent messages or not, as the engine and
-- each of them now say.
--
-- Role     internal
--
-- It does what howdah.alter_queue does for one. Messages already there stay what they are, and are still found.
create or replace function howdah._set_persistent() returns void
language plpgsql volatile
as $$
declare
    v_destination howdah.destinations;
begin
    for v_destination in
        update howdah.destinations d
        set persistent = d.own_persistent and e.persistent,
            main_rank = case when d.kind <> 'topic' and d.own_persistent and e.persistent then 9 - d.default_priority
                else -1 end
        from howdah.engine e
        where d.persistent <> (d.own_persistent and e.persistent)
          and (d.dropped_at is null or exists (select from howdah.temporary_queues t where t.destination_id = d.id))
        returning d.*
    loop
        if v_destination.kind = 'topic' then
            perform howdah._note_readers(v_destination.id);
            continue;
        end if;
        perform howdah._note_special(v_destination);
        perform howdah._open_lane(v_destination.id, 9 - v_destination.default_priority, 2);
    end loop;
end
$$;
