-- howdah._set_room(p_destination_id): make sends look at the limits that now hold for a destination.
--
-- Role     internal
--
-- These are a queue's own limits and the engine's. Where both hold, a sequence that never has a value closes the fast
-- path of a send.
--
-- The largest body is the lesser of both. It is stored here, so that a send reads no second row. A function that
-- writes own_max_message_bytes calls howdah._hold_limits before, and this after.
create or replace function howdah._set_room(p_destination_id integer) returns void
language plpgsql volatile
as $$
declare
    v_destination howdah.destinations;
    v_system boolean;
    v_room text := 'room_' || p_destination_id;
    v_tickets regclass;
    v_bytes bigint;
begin
    perform howdah._hold_limits();
    v_system := howdah._system_limited();
    select d.* into v_destination from howdah.destinations d where d.id = p_destination_id;
    if v_destination.message_limit is not null or v_destination.byte_limit is not null then
        v_tickets := coalesce(to_regclass('howdah.tickets_' || p_destination_id),
            howdah._new_hint('tickets_' || p_destination_id, false));
        if to_regclass('howdah.' || v_room) is null then
            perform howdah._new_hint(v_room, false);
        else
            perform howdah._close_room(('howdah.' || v_room)::regclass);
        end if;
        v_room := case when v_system then 'no_room' else v_room end;
    elsif v_system then
        v_tickets := 'howdah.system_tickets';
        v_room := 'system_room';
    else
        v_room := null;
    end if;
    v_bytes := least(v_destination.own_max_message_bytes, (select e.max_message_bytes from howdah.engine e));
    update howdah.destinations d set room = ('howdah.' || v_room)::regclass, tickets = v_tickets,
        max_message_bytes = v_bytes
    where d.id = p_destination_id and (d.room is distinct from ('howdah.' || v_room)::regclass
        or d.tickets is distinct from v_tickets
        or d.max_message_bytes <> v_bytes);
end
$$;
