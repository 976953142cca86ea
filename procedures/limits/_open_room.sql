-- howdah._open_room(p_destination_id): allow the tickets of a queue that this transaction has just created. It needs no
-- count, because nobody else can have sent there.
--
-- Role     internal
--
-- The settings are those of howdah._recount. Where the engine has limits too, senders count.
create or replace function howdah._open_room(p_destination_id integer) returns void
language plpgsql volatile
as $$
declare
    v_queue howdah.destinations := (select d from howdah.destinations d where d.id = p_destination_id);
    v_bits constant integer := case when v_queue.byte_limit is null then 62
        else greatest(floor(log(2, v_queue.byte_limit / 16384.0)), 0) end;
    v_most constant bigint := least(coalesce(v_queue.message_limit, 1099511627776), v_queue.byte_limit >> v_bits);
begin
    if v_queue.room = to_regclass('howdah.room_' || p_destination_id) then
        perform setval(v_queue.room, ((coalesce(pg_sequence_last_value(v_queue.tickets), 0) + v_most) << 20)
            | ((((coalesce(pg_sequence_last_value(v_queue.room), 0) >> 12) + 1) & 255) << 12)
            | (greatest(floor(log(2, v_most / 64.0)), 0)::bigint << 6) | v_bits);
    end if;
end
$$;
