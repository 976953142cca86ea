-- howdah._open_lane(p_destination_id, p_rank, p_place): make receives look for messages of a rank in a place.
--
-- Role     internal
--
-- Call it in the transaction that stores such a message, so that both become visible at once. The main lane is always
-- open.
--
-- Nobody waits here. One of several first senders creates the sequences; the others add a row without them. Receives
-- use a lane once, even if it has two rows.
create or replace function howdah._open_lane(p_destination_id integer, p_rank integer, p_place integer) returns void
language plpgsql volatile
as $$
declare
    v_id bigint;
begin
    if p_place = 2 and exists (select from howdah.destinations d
        where d.id = p_destination_id and d.main_rank = p_rank) then
        return;
    end if;
    perform nextval(d.special) from howdah.destinations d where d.id = p_destination_id;
    if exists (select from howdah.lanes l
               where l.destination_id = p_destination_id and l.rank = p_rank and l.place = p_place
                 and l.head is not null) then
        return;
    end if;
    if pg_try_advisory_xact_lock(howdah._lock_key('lane', p_destination_id || ':' || p_rank * 3 + p_place)) then
        v_id := nextval(pg_get_serial_sequence('howdah.lanes', 'id'));
        insert into howdah.lanes (id, destination_id, rank, place, head, search) overriding system value
        values (v_id, p_destination_id, p_rank, p_place, howdah._new_hint('head_' || v_id),
            howdah._new_hint('search_' || v_id));
    elsif not exists (select from howdah.lanes l
                      where l.destination_id = p_destination_id and l.rank = p_rank and l.place = p_place) then
        insert into howdah.lanes (destination_id, rank, place) values (p_destination_id, p_rank, p_place);
    end if;
end
$$;
