-- howdah.wait(queue, since): ask senders to NOTIFY this queue's consumers for two seconds.
--
-- Returns  channel and payload of the notification; for a subscription several payloads, separated by commas. since:
--          pass it to the next call of the same wait. unsettled: true if a transaction from
--          before the first call is still open. It may have sent without notifying, so look often.
--          limited_for: for so long a rate of the queue, or of a key, leaves no room; NULL: none is spent.
-- Raises   HD001 no such queue; HD005 queue is a topic; HD010 not allowed; HD002, HD004, HD027 the missing queue cannot
--          create itself (docs/auto-creation.md); HD045 the master of changes is away.
-- Role     howdah_consumer howdah_admin
--
-- LISTEN to the channel "howdah" in a session of its own. Call this once receives have found nothing for some
-- milliseconds, then receive once more. Only then sleep until the notification, for at most 250 ms. Repeat this call at
-- least every 900 ms.
--
-- Delayed messages, returned messages, and those sent faster than 250 a second come without a notification.
--
-- The call takes effect at once, whatever becomes of the transaction. Senders that find no such request commit without
-- NOTIFY.
create or replace function howdah.wait(
    queue text, inout since bigint default null, out channel text, out payload text, out unsettled boolean,
    out limited_for interval
) returns record
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_destination howdah.destinations := howdah._destination_or_new(queue, 'receive');
    v_snapshot pg_snapshot;
    v_next bigint;
begin
    if v_destination.kind = 'queue' then
        perform howdah._ask_for_notices(v_destination.positions, v_destination.waiting);
        payload := v_destination.id;
    elsif v_destination.kind = 'topic' then
        raise exception using errcode = 'HD005', message = format('%s is a topic', quote_literal(queue)),
            hint = 'Subscribe to it with howdah.subscribe(topic, name) and wait for the name that returns.';
    else
        perform howdah._note_alive(s.alive) from howdah.subscriptions s where s.destination_id = v_destination.id;
        perform howdah._ask_for_notices(v_destination.positions, v_destination.waiting);
        select v_destination.id || coalesce(string_agg(',topic:' || t.id, '' order by t.id), '') into payload
        from (select d.id, howdah._ask_for_notices(d.positions, d.waiting)
              from howdah.destinations d
              where d.id in (select a.destination_id from howdah.acks a where a.subscription_id = v_destination.id)) t;
    end if;
    -- Transactions that already have an id may have sent without seeing the request.
    v_snapshot := pg_current_snapshot();
    v_next := pg_snapshot_xmax(v_snapshot)::text::bigint + greatest(age(pg_snapshot_xmax(v_snapshot)::xid), 0);
    since := coalesce(since, v_next);
    if v_destination.limited then
        limited_for := howdah._rate_opens_in(v_destination);
    end if;
    channel := 'howdah';
    unsettled := pg_snapshot_xmin(v_snapshot)::text::bigint < since;
end
$$;
