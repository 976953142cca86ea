-- howdah._check_consumer(p_destination, p_consumer, p_now): refuse a consumer that is not open, and record that it is
-- alive.
--
-- Raises   HD032 it is not open, or no longer.
-- Role     internal
--
-- A quarter of its timeout may pass without a record, so receivers write little.
--
-- Whoever closes it has its lock (howdah._close_dead). The call does not wait for that transaction, because it would
-- wait for a handler. Two consumers of two sessions could then wait for each other.
create or replace function howdah._check_consumer(
    p_destination howdah.destinations, p_consumer bigint, p_now timestamptz
) returns void
language plpgsql volatile
as $$
declare
    v_kind text := case when p_destination.kind = 'subscription' then 'subscription' else 'queue' end;
begin
    if not pg_try_advisory_xact_lock_shared(howdah._lock_key('consumer at work', p_consumer::text))
       or not exists (select from howdah.consumers c where c.id = p_consumer and c.destination_id = p_destination.id)
    then
        raise exception using errcode = 'HD032',
            message = format('consumer %s of %s %s is not open', p_consumer, v_kind, quote_literal(p_destination.name)),
            hint = format(
                'It was closed, or silent for so long that others took over. Open another one with '
                'howdah.open_consumer(%s).', v_kind);
    end if;
    update howdah.consumers c set seen_at = p_now
    where c.ctid = any (array(select u.ctid from howdah.consumers u
                              where u.id = p_consumer and u.seen_at < p_now - u.timeout_ms * interval '250 microseconds'
                              for update skip locked));
end
$$;
