-- howdah.receive(queue, max_messages): take messages; COMMIT consumes them, ROLLBACK puts them back in their place.
--
-- Returns  up to max_messages rows of howdah.message, by priority and position; none if the queue has none to give.
-- Raises   HD001 no such queue; HD005 max_messages is not 1 to 10000; HD009 receiving is paused; HD010 not allowed.
-- Role     howdah_consumer howdah_admin
--
-- Messages that other transactions are receiving are passed by. Expired ones are discarded, and one whose recorded
-- failures have reached the queue's limit goes to the exception destination instead of to the caller.
-- Sorting and sequential scans are off so that the claim walks the key: a plan made while the queue was short, or
-- without fresh statistics, would read and sort the whole of a long one, and sessions keep their plans.
create or replace function howdah.receive(queue text, max_messages integer default 1) returns setof howdah.message
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set enable_seqscan = off set enable_sort = off set jit = off
as $$
begin
    return query select * from howdah._receive(queue, max_messages, true);
end
$$;

-- howdah._receive(p_queue, p_max_messages, p_remove): the body of howdah.receive and howdah.receive_locked.
--
-- Returns  setof howdah.message.
-- Raises   HD001, HD005, HD009, HD010 as howdah.receive.
-- Role     internal
--
-- One statement a round, for building the rows one by one costs five times more. howdah._dispose stands in the WHERE so
-- that it runs once for each row that must not be delivered; a round that met such a row is followed by another.
create or replace function howdah._receive(p_queue text, p_max_messages integer, p_remove boolean) returns setof howdah.message
language plpgsql volatile
as $$
declare
    v_destination howdah.destinations := howdah._destination(p_queue, 'receive');
    v_limit integer := case when v_destination.exception_mode <> 'none' and v_destination.max_failed_deliveries > 0
        then v_destination.max_failed_deliveries else 2147483647 end;
    v_left integer := p_max_messages;
    v_taken integer;
    v_now timestamptz;
begin
    if p_max_messages is null or p_max_messages not between 1 and 10000 then
        raise exception using errcode = 'HD005',
            message = format('max_messages must be 1 to 10000, not %s', coalesce(p_max_messages::text, 'NULL'));
    end if;
    if v_destination.receiving_paused then
        raise exception using errcode = 'HD009', message = format('receiving from queue %s is paused', quote_literal(p_queue)),
            hint = 'An administrator resumes it with howdah.resume(queue).';
    end if;
    loop
        v_now := howdah.now();
        return query
        with taken as materialized (
            select t as claim, t.*, row_number() over () as number from howdah._claim(v_destination, v_left, v_now, p_remove) t
        ), failed as materialized (
            select f.* from howdah._count_failures(v_destination.id, array(select t.message_id from taken t)) f
        ), claimed as materialized (
            select t.*, coalesce(f.failures, 0) as failures,
                coalesce(t.expires_at <= v_now, false) or coalesce(f.failures, 0) >= v_limit as ended
            from taken t left join failed f on f.message_id = t.message_id and f.stage = t.stage
        ), journaled as (
            insert into howdah.journal (at, destination_id, nonpersistent, event, message_ids)
            select v_now, v_destination.id, c.nonpersistent, 'consumed', array_agg(c.message_id)
            from claimed c where not c.ended and p_remove and v_destination.journal_level <> 'off'
            group by c.nonpersistent
        )
        select c.message_id, p_queue, case when c.is_text then convert_from(c.body, 'UTF8') end,
            case when not c.is_text then c.body end, c.content_type, c.headers, 9 - c.rank, c.correlation_id, c.reply_to,
            c.message_type, c.conversation_id, case when c.nonpersistent then 'non-persistent' else 'persistent' end,
            c.sent_at, c.expires_at, c.failures + 1, c.failures > 0, c.seq, c.stage::integer,
            case when c.origin_id is not null then (select d.name from howdah.destinations d where d.id = c.origin_id) end,
            c.dead_reason, c.dead_at
        from claimed c
        where not c.ended
           or howdah._dispose(v_destination, c.claim, v_now, not p_remove)
        order by c.number;
        get diagnostics v_taken = row_count;
        v_left := v_left - v_taken;
        -- Held rows would be met again by another round, for nobody's own locks are passed by.
        exit when v_left = 0 or not p_remove and v_taken > 0 or current_setting('howdah.disposed', true) is distinct from 'yes';
        perform set_config('howdah.disposed', '', true);
    end loop;
end
$$;

-- howdah._dispose(p_destination, p_claimed, p_now, p_delete): end a claimed message that must not be delivered.
--
-- Returns  false, so that a WHERE leaves the message out.
-- Role     internal
create or replace function howdah._dispose(
    p_destination howdah.destinations, p_claimed howdah.claimed, p_now timestamptz, p_delete boolean
) returns boolean
language plpgsql volatile
as $$
begin
    if p_delete then
        perform howdah._remove(howdah._as_ready(p_claimed), p_claimed.place);
    end if;
    if p_claimed.expires_at <= p_now then
        perform howdah._journal(p_destination, 'expired', array[p_claimed.message_id], p_claimed.nonpersistent);
    else
        perform howdah._bury(p_destination, howdah._as_ready(p_claimed), p_claimed.nonpersistent,
            'failed deliveries reached the limit');
    end if;
    perform set_config('howdah.disposed', 'yes', true);
    return false;
end
$$;
