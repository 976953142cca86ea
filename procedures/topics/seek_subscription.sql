-- howdah.seek_subscription(subscription, since): make a subscription read from a given time on, whatever it has read.
--
-- Returns  the number of messages that it had not read and now skips (bigint).
-- Raises   HD001 no such subscription; HD005 since is NULL; HD010 not allowed; HD024 it is being read, or messages of
--          it are leased; HD025 a restored database.
-- Role     howdah_consumer howdah_admin
--
-- Backwards, messages sent since then are read again if they are still stored (topic options retain_ms, retain_bytes).
-- '-infinity' means all of them. Forwards, messages sent before then are skipped. 'infinity' means all there are.
--
-- The act is in howdah.list_acts as sought, with the setting howdah.reason.
--
-- Messages that are set aside for the subscription, or that its poison policy disposed of, do not come again in this
-- way.
create or replace function howdah.seek_subscription(subscription text, since timestamptz) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_destination howdah.destinations := howdah._subscription(subscription, 'receive');
    v_subscription howdah.subscriptions;
    v_upto pg_snapshot;
    v_before bigint[];
    v_after bigint[];
    v_skipped bigint[];
begin
    if since is null then
        raise exception using errcode = 'HD005', message = 'since cannot be NULL',
            hint = 'It is a time; ''-infinity'' is the beginning, ''infinity'' the end.';
    end if;
    perform howdah._commit_needs(4);
    perform howdah._lock_subscription(v_destination);
    perform howdah._check_cluster();
    v_upto := howdah._snapshot();  -- what is committed later is neither read before nor skipped
    select s.* into v_subscription from howdah.subscriptions s where s.destination_id = v_destination.id;
    perform howdah._expire_leases(v_destination.id);
    v_before := howdah._unread_numbers(v_subscription, v_upto);
    delete from howdah.acked d using howdah.acks a where a.subscription_id = v_destination.id and d.ack_id = a.id;
    if since > '-infinity' then
        perform howdah._begin_since(v_subscription, since, v_upto);
    else
        perform howdah._move_cursor(howdah._cursor(a.id), '3', -1, 0, '3:3:') from howdah.acks a
        where a.subscription_id = v_destination.id;
    end if;
    perform howdah._set_aside(v_destination.id, g.message_id)
    from (
        select m.message_id from howdah.msgs m where m.destination_id = v_destination.id
        union select n.message_id from howdah.msgs_nonpersistent n where n.destination_id = v_destination.id
        union select p.message_id from howdah.parked p where p.destination_id = v_destination.id
        union select i.message_id from howdah.poison_details i
              where i.destination_id = v_destination.id and i.outcome in ('moved', 'discarded', 'ended')
    ) g;
    v_after := howdah._unread_numbers(v_subscription, v_upto);
    perform howdah._journal(v_destination, 'sent',
        array(select u.id from unnest(v_after) u(id) except select u.id from unnest(v_before) u(id)),
        false, null, 'to be read again');
    v_skipped := array(select u.id from unnest(v_before) u(id) except select u.id from unnest(v_after) u(id));
    perform howdah._journal(v_destination, 'discarded', v_skipped, false, null, 'passed over');
    perform howdah._record_act('sought', v_destination.id, '{}', null, howdah._why('since ' || since));
    return cardinality(v_skipped);
end
$$;
