-- howdah._lease_rows(p_destination_id, p_lease): where the parked messages of a lease lie, found along its index.
--
-- Returns  tid[].
-- Role     internal
--
-- They come in an order that only this index has. In the order of their ids, PostgreSQL once walked all that a queue
-- has parked.
create or replace function howdah._lease_rows(p_destination_id integer, p_lease bigint) returns tid[]
language plpgsql stable
    set enable_seqscan = off set enable_sort = off set enable_bitmapscan = off set jit = off
as $$
begin
    return array(
        select p.ctid from howdah.parked p
        where p.destination_id = p_destination_id and p.lease_id >= p_lease and p.lease_id <= p_lease
        order by p.lease_id);
end
$$;
