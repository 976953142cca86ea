-- howdah._keep_leased(p_destination, p_rank, p_lease, p_message_ids): keep messages of a lease that the caller is about
-- to acknowledge.
--
-- Role     internal
--
-- p_message_ids NULL: all of them. p_rank NULL: the lease has ended, and its messages are parked.
--
-- The rows are locked first. A second acknowledgement waits, and then finds none to keep.
create or replace function howdah._keep_leased(
    p_destination howdah.destinations, p_rank smallint, p_lease bigint, p_message_ids bigint[]
) returns void
language plpgsql volatile
as $$
begin
    perform howdah._keep_stored(p_destination, array(
        select howdah._unleased(l) from howdah.leased l
        where l.destination_id = p_destination.id and l.rank = p_rank and l.seq >= p_lease << 20
          and l.seq <= (p_lease << 20 | 1048575)
          and (p_message_ids is null or l.message_id = any (p_message_ids))
        order by l.seq for update), false);
end
$$;
