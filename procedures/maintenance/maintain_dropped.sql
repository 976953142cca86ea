-- howdah.maintain_dropped(lock_epoch): move messages that reached a queue after it was dropped to the system exception destination.
--
-- Returns  their number (bigint).
-- Raises   HD010 called out of a maintenance command; HD014 the maintenance lock is not held with this epoch.
-- Role     howdah_consumer howdah_admin
--
-- It also drops the sequences of queues dropped over an hour ago. Such a message was sent by a transaction that committed after the drop, or given back by a receiver. lock_epoch NULL:
-- run by hand.
create or replace function howdah.maintain_dropped(lock_epoch bigint default null) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_destination howdah.destinations;
    v_back record;
    v_count bigint := 0;
begin
    if lock_epoch is not null then
        perform howdah._fence('maintenance', lock_epoch);
    end if;
    for v_destination in
        select d.* from howdah.destinations d where d.dropped_at is not null and not d.name ^@ '_TEMP.' and howdah._holds_messages(d.id)
    loop
        v_destination.exception_mode := 'system';
        for v_back in select t.message, t.nonpersistent from howdah._take_back(v_destination, null, 10000) t loop
            perform howdah._bury(v_destination, v_back.message, v_back.nonpersistent, 'queue dropped');
            v_count := v_count + 1;
        end loop;
    end loop;
    for v_destination in
        select d.* from howdah.destinations d
        where d.dropped_at < howdah.now() - interval '1 hour' and d.positions <> 0::regclass and not d.name ^@ '_TEMP.' and not howdah._holds_messages(d.id)
    loop
        perform howdah._drop_sequences(v_destination);
    end loop;
    return v_count;
end
$$;

-- howdah._drop_sequences(p_destination): drop the sequences of a queue that was dropped long ago.
--
-- Role     internal
--
-- One that a transaction still uses is left for the next time.
create or replace function howdah._drop_sequences(p_destination howdah.destinations) returns void
language plpgsql volatile set lock_timeout = '50ms'
as $$
declare
    v_sequence regclass;
begin
    for v_sequence in
        select s.name from unnest(array[p_destination.positions, p_destination.head, p_destination.search]) s(name)
        union all
        select to_regclass('howdah.' || r.name || p_destination.id) from unnest(array['room_', 'tickets_', 'mark_']) r(name)
        where to_regclass('howdah.' || r.name || p_destination.id) is not null
        union all
        select s.name from howdah.lanes l cross join lateral unnest(array[l.head, l.search]) s(name)
        where l.destination_id = p_destination.id and s.name is not null
    loop
        execute format('drop sequence %s', v_sequence);
    end loop;
    delete from howdah.lanes l where l.destination_id = p_destination.id;
    update howdah.destinations d set positions = 0::regclass, head = 0::regclass, search = 0::regclass, room = null, tickets = null where d.id = p_destination.id;
exception when lock_not_available then
    return;
end
$$;
