-- howdah.close_consumer(consumer): close a consumer; its groups and its share go to the others, whom it wakes.
--
-- Returns  false if it was not open, or no longer.
-- Raises   HD001 its queue was dropped; HD010 the caller may not receive from its queue.
-- Role     howdah_consumer howdah_admin
--
-- A role that closes what another one has opened, or gives a reason with the setting howdah.reason, is in
-- howdah.list_acts as having ended it.
create or replace function howdah.close_consumer(consumer bigint) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_row record;
begin
    select c.id, c.opened_by, d.id as destination_id, d.name, d.waiting into v_row
    from howdah.consumers c join howdah.destinations d on d.id = c.destination_id where c.id = consumer;
    if not found then
        return false;
    end if;
    perform howdah._destination(v_row.name, 'receive');
    delete from howdah.consumers c where c.id = v_row.id;
    delete from howdah.consumer_leases l where l.consumer_id = v_row.id;
    if howdah._is_own_session(v_row.id) then
        perform pg_advisory_unlock_shared(howdah._lock_key('consumer', v_row.id::text));
    end if;
    if v_row.opened_by <> howdah._caller() or howdah._why() is not null then
        perform howdah._record_act('ended', v_row.destination_id, '{}', null,
            howdah._why(format('consumer %s of %s', v_row.id, quote_ident(v_row.opened_by))));
    end if;
    perform howdah._wake(v_row.destination_id, v_row.waiting);
    return true;
end
$$;
