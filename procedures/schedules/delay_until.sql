-- howdah.delay_until(at): how long it is until a time, for the argument delay of howdah.send.
--
-- Returns  interval; 0 for a time that has passed.
-- Raises   HD005 at is NULL, infinite or over 100 years ahead.
-- Role     howdah_producer howdah_admin
--
-- howdah.send('q', 'x', delay => howdah.delay_until('2027-01-01 08:00 Europe/Vienna')) is due then, to the microsecond.
create or replace function howdah.delay_until(at timestamptz) returns interval
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    if at is null or not isfinite(at) or at > howdah.now() + interval '99 years' then
        raise exception using errcode = 'HD005', message = 'a time of delivery is a point in time, at most 99 years ahead';
    end if;
    return greatest(at - howdah.now(), interval '0');
end
$$;

-- howdah.list_delayed(queue, max_messages, until): messages of a queue that wait for their time: sent with a delay, or put back until later.
--
-- Returns  up to max_messages rows, by the time they are due; with until those that are due by then. bytes is the size of the body.
--          reason: delay (sent with one), redelivery, blocked or quarantine (after a failure), or operator (howdah.park_messages).
-- Raises   HD001 no such queue; HD005 max_messages is not 1 to 10000; HD010 not allowed.
-- Role     howdah_browser howdah_consumer howdah_admin
--
-- Neither receive nor browse shows them before. Those sent with a delay can be cancelled (howdah.cancel_delayed), the others be received at
-- once (howdah.retry).
create or replace function howdah.list_delayed(queue text, max_messages integer default 100, until timestamptz default null) returns table (
    message_id bigint, due_at timestamptz, sent_at timestamptz, expires_at timestamptz, priority integer, message_type text,
        correlation_id text,
    headers jsonb, bytes integer, reason text
)
language plpgsql stable security definer set search_path = pg_catalog, howdah, pg_temp set enable_seqscan = off set jit = off
as $$
declare
    v_id integer := (howdah._queue(queue, 'browse')).id;
    v_now timestamptz := howdah.now();
begin
    if max_messages is null or max_messages not between 1 and 10000 then
        raise exception using errcode = 'HD005',
            message = format('max_messages must be 1 to 10000, not %s', coalesce(max_messages::text, 'NULL'));
    end if;
    return query
    select p.message_id, p.due_at, p.sent_at, p.expires_at, 9 - p.rank, p.message_type, p.correlation_id, p.headers, howdah._body_bytes(p.body, p.message_id),
        p.parked_reason
    from generate_series(0, 9) r(rank)
    cross join lateral (
        select o.* from howdah.parked o
        where o.destination_id = v_id and o.rank = r.rank and o.due_at > v_now and (o.due_at > list_delayed.until) is not true
          and o.parked_reason <> 'lease' and (o.boot is null or o.boot = pg_postmaster_start_time())
        order by o.due_at, o.seq limit max_messages) p
    order by p.due_at, p.rank, p.seq limit max_messages;
end
$$;

-- howdah.cancel_delayed(queue, message_ids): discard messages that were sent with a delay, as long as they are not due.
--
-- Returns  their number (bigint). All or none.
-- Raises   HD001 no such queue; HD005 message_ids is NULL; HD010 not allowed; HD013 a message is not there, is due already, or was not
--          sent with a delay.
-- Role     howdah_producer howdah_admin
--
-- Who may send there may cancel by number. The journal has them as discarded, because cancelled.
create or replace function howdah.cancel_delayed(queue text, message_ids bigint[]) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp set enable_seqscan = off
as $$
declare
    v_destination howdah.destinations := howdah._destination(queue, 'send');
    v_wanted bigint := (select count(distinct i.id) from unnest(message_ids) i(id));
    v_done bigint;
begin
    if message_ids is null then
        raise exception using errcode = 'HD005', message = 'message_ids cannot be NULL', hint = 'See howdah.list_delayed(queue).';
    end if;
    v_done := howdah._discard_delayed(v_destination, array(
        select p.ctid from howdah.parked p
        where p.destination_id = v_destination.id and p.message_id = any (message_ids) and p.due_at > howdah.now()
            and p.parked_reason = 'delay'
        order by p.message_id for update skip locked));
    if v_done < v_wanted or exists (select from unnest(message_ids) i(id) where i.id is null) then
        raise exception using errcode = 'HD013',
            message = format('not all of these messages wait for their time in queue %s', quote_literal(queue)),
            hint = 'See howdah.list_delayed(queue). What is due belongs to the consumers.';
    end if;
    return v_done;
end
$$;

-- howdah.cancel_delayed_range(queue, due_from, due_until): discard all messages sent with a delay that will become due in a range of time.
--
-- Returns  their number (bigint). The range includes its ends; NULL: open.
-- Raises   HD001 no such queue; HD010 not allowed.
-- Role     howdah_producer howdah_admin
--
-- For who administers the queue. ActiveMQ's REMOVEALL with ACTION_START_TIME and ACTION_END_TIME; schedules: howdah.cancel_schedules.
create or replace function howdah.cancel_delayed_range(queue text, due_from timestamptz default null, due_until timestamptz default null)
returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp set enable_seqscan = off
as $$
declare
    v_destination howdah.destinations := howdah._destination(queue, 'admin');
begin
    return howdah._discard_delayed(v_destination, array(
        select p.ctid from generate_series(0, 9) r(rank)
        join howdah.parked p on p.destination_id = v_destination.id and p.rank = r.rank and p.due_at > howdah.now()
            and (p.due_at < due_from) is not true and (p.due_at > due_until) is not true
        where p.parked_reason = 'delay' for update of p skip locked));
end
$$;

-- howdah._discard_delayed(p_destination, p_rows): discard parked rows that the caller has locked.
--
-- Returns  their number (bigint).
-- Role     internal
create or replace function howdah._discard_delayed(p_destination howdah.destinations, p_rows tid[]) returns bigint
language plpgsql volatile
as $$
declare
    v_gone record;
    v_count bigint := 0;
begin
    for v_gone in
        with gone as (delete from howdah.parked p where p.ctid = any (p_rows) returning p.message_id, p.boot is not null as nonpersistent)
        select g.nonpersistent, array_agg(g.message_id order by g.message_id) as ids from gone g group by g.nonpersistent
    loop
        perform howdah._journal(p_destination, 'discarded', v_gone.ids, v_gone.nonpersistent, null, 'cancelled');
        v_count := v_count + cardinality(v_gone.ids);
    end loop;
    return v_count;
end
$$;
