-- howdah._parked_rows(p_destination_id, p_ids): where parked messages lie, found along the key.
--
-- Returns  tid[], by their ids.
-- Role     internal
--
-- They come in an order that only the key has. A plan made while the table was short would otherwise walk all hidden
-- messages of the queue, and be kept by its session.
create or replace function howdah._parked_rows(p_destination_id integer, p_ids bigint[]) returns tid[]
language plpgsql stable
    set enable_seqscan = off set enable_sort = off set enable_bitmapscan = off set jit = off
as $$
begin
    return array(
        select o.ctid from howdah.parked o
        where o.destination_id = p_destination_id
          and o.message_id >= (select min(i.id) from unnest(p_ids) i(id))
          and o.message_id <= (select max(i.id) from unnest(p_ids) i(id))
          and o.message_id = any (p_ids)
        order by o.message_id);
end
$$;
