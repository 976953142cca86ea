-- howdah._parked_rows(p_destination_id, p_ids): where parked messages lie, found along the key.
--
-- Returns  tid[], in the order of the ids given.
-- Role     internal
--
-- Each is looked up on its own, in an order that only the key has. A plan made while the table was short would
-- otherwise walk all that a queue has parked, and be kept by its session. PostgreSQL before 17 would walk from the
-- first to the last, if it looked for all at once.
create or replace function howdah._parked_rows(p_destination_id integer, p_ids bigint[]) returns tid[]
language plpgsql stable
    set enable_seqscan = off set enable_sort = off set enable_bitmapscan = off set jit = off
as $$
begin
    return array(
        select k.ctid from unnest(p_ids) i(id) cross join lateral (
            select p.ctid from howdah.parked p
            where p.destination_id = p_destination_id and p.message_id >= i.id and p.message_id <= i.id
            order by p.message_id limit 1) k);
end
$$;
