-- howdah.park_messages(queue, message_ids, until, delay, reason): park messages in their queue until a time, or until
-- an operator retries them.
--
-- Returns  the number of messages parked (bigint).
-- Raises   HD001 no such queue; HD005 message_ids is NULL, until is in the past, delay is not positive, or both are
--          given; HD010 not allowed; HD013 a message is not in the queue, or is in somebody's hands.
-- Role     howdah_admin
--
-- Either all are parked, or none. Without until and delay they wait for howdah.retry (due at the end of the year 9999).
-- Messages already parked get the new time. Once due they are received, whether or not anybody asks. Their failures go
-- on counting.
create or replace function howdah.park_messages(
    queue text, message_ids bigint[], until timestamptz default null, delay interval default null,
    reason text default null
) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp set enable_seqscan = off
    set jit = off
as $$
declare
    v_destination howdah.destinations := howdah._queue(queue, 'admin');
    v_now timestamptz := howdah.now();
    v_due timestamptz;
    v_ids bigint[];
begin
    if until is not null and delay is not null then
        raise exception using errcode = 'HD005', message = 'until and delay do not go together',
            hint = 'Give one of them, or neither.';
    end if;
    if delay <= interval '0' or delay > interval '100 years' then
        raise exception using errcode = 'HD005', message = format('delay %s is not positive or over 100 years', delay);
    end if;
    v_due := coalesce(until, v_now + howdah._span(delay), timestamptz '9999-12-31 00:00:00+00');
    if v_due <= v_now or v_due > timestamptz '9999-12-31 00:00:00+00' then
        raise exception using errcode = 'HD005', message = format('until %s is not in the future, or too far in it',
            until),
            hint = 'Leave it out to park until howdah.retry(queue, message_ids).';
    end if;
    with taken as materialized (
        select t.message, t.nonpersistent from howdah._take_these(v_destination, message_ids, 'parked') t
    ), put as materialized (
        select (t.message).message_id, howdah._park(t.message, t.nonpersistent, v_due, 'operator') from taken t
    )
    select array_agg(p.message_id) into v_ids from put p;
    perform howdah._record_act('parked', v_destination.id, v_ids, null, reason);
    return coalesce(cardinality(v_ids), 0);
end
$$;
