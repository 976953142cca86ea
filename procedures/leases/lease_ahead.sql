-- howdah.lease_ahead(queue, max_messages, duration, suspects, finished, selector, consumer): lease messages for a
-- session that delivers them later, one after the other.
--
-- Returns  as howdah.lease. suspects: how many of the messages, the first ones left, may be in hand at a time. If the
--          lease runs out, these count as failed. The others also come again as redelivered, but no limit counts that.
--          finished: leases of this queue that the session has finished.
-- Raises   HD001 no such queue; HD003, HD005 as howdah.lease, or suspects is negative; HD009 receiving is paused;
--          HD010 not allowed; HD016, HD019, HD023, HD024, HD025, HD032 as howdah.receive; HD040 the engine is paused,
--          quiesced or stopped; HD002, HD004, HD027 the missing queue cannot create itself (docs/auto-creation.md);
--          HD045 the master of changes is away; HD049 the transformation cannot be called (docs/transformations.md).
-- Role     howdah_consumer howdah_admin
--
-- A message that kills its consumers so reaches its limit. Messages behind it in the memory of the dead consumers do
-- not.
create or replace function howdah.lease_ahead(
    queue text, max_messages integer default 1, duration interval default '30 seconds', suspects integer default 1,
    finished bigint[] default '{}', selector text default null, consumer bigint default null
) returns table (
    LEASED_MESSAGE
)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_destination_id integer := (howdah._destination_or_new(queue, 'receive')).id;
    v_count bigint;
begin
    if (suspects >= 0) is not true then
        raise exception using errcode = 'HD005', message = format('suspects must be 0 or more, not %s',
            coalesce(suspects::text, 'NULL')),
            hint = 'The number of messages that the consumer may have in hand at a time.';
    end if;
    if cardinality(finished) > 0 then
        delete from howdah.ahead_leases a where a.lease_id = any (finished) and a.destination_id = v_destination_id;
    end if;
    return query select l.* from howdah.lease(queue, max_messages, duration, selector, consumer) l;
    get diagnostics v_count = row_count;
    if v_count > suspects then
        insert into howdah.ahead_leases (lease_id, destination_id, suspects)
        values (currval('howdah.lease_numbers'::regclass), v_destination_id, suspects);
    end if;
end
$$;
