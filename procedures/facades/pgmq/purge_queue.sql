-- pgmq.purge_queue(queue_name): discard all messages of a queue, also those that are hidden.
--
-- Returns  how many.
-- Raises   42P01 no such queue; HD010 not allowed; HD045 the master of changes is away.
-- Role     howdah_admin
--
-- For howdah a message that was read is in somebody's hands, and a purge leaves it. So here they are shown first.
create or replace function pgmq.purge_queue(queue_name text) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_destination howdah.destinations := pgmq._refuse(queue_name, 'admin');
begin
    update howdah.parked p set due_at = howdah.now()
    where p.ctid = any (array(
        select c.ctid from howdah.parked c
        where c.destination_id = v_destination.id and c.parked_reason = 'lease' and c.lease_id is null
          and c.due_at > howdah.now()
        for update skip locked));
    return howdah.purge_queue(lower(queue_name));
end
$$;
