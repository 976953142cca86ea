-- howdah._drop_sequences(p_destination): drop the sequences of a queue that was dropped long ago.
--
-- Role     internal
--
-- A sequence that a transaction still uses is left for the next time.
create or replace function howdah._drop_sequences(p_destination howdah.destinations) returns void
language plpgsql volatile set lock_timeout = '50ms'
as $$
declare
    v_sequence regclass;
begin
    update howdah.auto_destinations a set last_position = pg_sequence_last_value(p_destination.positions)
    where a.destination_id = p_destination.id;
    for v_sequence in
        select s.name from unnest(array[p_destination.positions, p_destination.head, p_destination.search]) s(name)
        union all
        select to_regclass('howdah.' || r.name || p_destination.id)
        from unnest(array['room_', 'tickets_', 'mark_']) r(name)
        where to_regclass('howdah.' || r.name || p_destination.id) is not null
        union all
        select s.name from howdah.lanes l cross join lateral unnest(array[l.head, l.search]) s(name)
        where l.destination_id = p_destination.id and s.name is not null
        union all
        select s.name from howdah.rate_cells c cross join lateral unnest(array[c.spent, c.mark]) s(name)
        where c.destination_id = p_destination.id
    loop
        execute format('drop sequence %s', v_sequence);
    end loop;
    delete from howdah.lanes l where l.destination_id = p_destination.id;
    -- of receivers that committed after the drop
    delete from howdah.kept_messages k where k.destination_id = p_destination.id;
    delete from howdah.rate_cells c where c.destination_id = p_destination.id;
    update howdah.destinations d set positions = 0::regclass, head = 0::regclass, search = 0::regclass, room = null,
        tickets = null where d.id = p_destination.id;
exception when lock_not_available then
    return;
end
$$;
