-- howdah._in_lease(p_destination_id, p_lease, p_message_ids): the messages that a lease has in the table leased: some
-- of them, or (NULL) all.
--
-- Returns  setof howdah.leased, in order; nothing is locked.
-- Role     internal
create or replace function howdah._in_lease(
    p_destination_id integer, p_lease bigint, p_message_ids bigint[] default null
)
returns setof howdah.leased
language sql stable
    set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
    select m.*
    from howdah.leases l join howdah.leased m
        on m.destination_id = l.destination_id and m.rank = l.rank and m.seq >= l.lease_id << 20
         and m.seq < (l.lease_id + 1) << 20
    where l.lease_id = p_lease and l.destination_id = p_destination_id
      and (p_message_ids is null or m.message_id = any (p_message_ids))
    order by m.seq
$$;
