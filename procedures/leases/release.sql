-- howdah.release(queue, lease, message_ids): give leased messages back to their place without counting a failure.
--
-- Returns  the number of messages (bigint). message_ids NULL: all messages that the lease still has.
-- Raises   HD001 no such queue; HD010 not allowed; HD026 the lease does not have, or no longer has, one of these
--          messages.
-- Role     howdah_consumer howdah_admin
create or replace function howdah.release(queue text, lease bigint, message_ids bigint[] default null) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp set enable_seqscan = off
    set jit = off
as $$
begin
    return (select count(*) from howdah._unlease(howdah._destination(queue, 'receive'), lease, message_ids));
end
$$;
