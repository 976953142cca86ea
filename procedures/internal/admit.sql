-- howdah._admit(p_destination_id): whether the caller may look for messages of a queue that is not an ordinary one.
--
-- Returns  boolean; false: another consumer is at work in a queue of strict order, or a message that waits for its redelivery
--          is next there.
-- Raises   HD019 the queue is hardened and this is no attempt.
-- Role     internal
--
-- Strict order: the consumer's transaction holds an advisory lock, so the next one comes to its end first; a message given back is the
-- first again, and one that is delayed or blocked holds up all others of the queue.
create or replace function howdah._admit(p_destination_id integer) returns boolean
language plpgsql volatile
as $$
declare
    v_queue record;
begin
    select d.name, d.strict_order, d.backout_count = 'hardened' as hardened into v_queue
    from howdah.destinations d where d.id = p_destination_id;
    if v_queue.hardened and not howdah._is_attempting() then
        raise exception using errcode = 'HD019', message = format('queue %s is hardened: an attempt is committed before its message is received', quote_literal(v_queue.name)),
            hint = 'Call howdah.begin_attempts(queue), COMMIT, and then howdah.receive_attempt(queue, attempt_id).';
    end if;
    if not v_queue.strict_order then
        return true;
    end if;
    return pg_try_advisory_xact_lock(1213154373, p_destination_id)
        and not exists (select from howdah.parked p
                        where p.destination_id = p_destination_id and p.parked_reason in ('redelivery', 'blocked', 'quarantine', 'lease') and p.due_at > howdah.now());
end
$$;

-- howdah._is_strict(p_destination_id): whether a queue is of strict order.
--
-- Returns  boolean.
-- Role     internal
create or replace function howdah._is_strict(p_destination_id integer) returns boolean
language sql stable
as $$ select d.strict_order from howdah.destinations d where d.id = p_destination_id $$;

-- howdah._is_plain(p_destination_id): whether nothing but the main lane of a queue can have a message to give.
--
-- Returns  boolean.
-- Role     internal
--
-- Its other lanes, if it has any, hold parked messages only, and none of those is due.
create or replace function howdah._is_plain(p_destination_id integer) returns boolean
language plpgsql volatile
as $$
begin
    return exists (select from howdah.destinations d
                   where d.id = p_destination_id and not d.strict_order and d.backout_count <> 'hardened')
        and not exists (select from howdah.lanes l
                        where l.destination_id = p_destination_id and (l.place > 0 or howdah._may_be_due(l, howdah.now())));
end
$$;

-- howdah._may_be_due(p_lane, p_now): whether a look for due messages in a lane of parked ones is worth its price.
--
-- Returns  boolean.
-- Role     internal
--
-- The first entry of the index answers where a look from the beginning is cheap. Where dead rows make it dear the lane gets a head,
-- from which howdah._scan goes on.
create or replace function howdah._may_be_due(p_lane howdah.lanes, p_now timestamptz) returns boolean
language plpgsql volatile
as $$
declare
    v_begun timestamptz := clock_timestamp();
begin
    if p_lane.head is not null and pg_sequence_last_value(p_lane.head) > 0 then
        return true;
    end if;
    perform from howdah.parked p
    where p.destination_id = p_lane.destination_id and p.rank = p_lane.rank and p.due_at <= p_now limit 1;
    if found then
        return true;
    elsif clock_timestamp() - v_begun > interval '1 ms' and p_lane.head is not null then
        perform setval(p_lane.head, (date_part('epoch', p_now) * 1000000)::bigint);
        perform howdah._remember(p_lane.search, 0, v_begun, false);
    end if;
    return false;
end
$$;

-- howdah._check_disabled(p_destination_id): refuse to receive from a queue that failures in a row disabled.
--
-- Raises   HD016 it is disabled.
-- Role     internal
create or replace function howdah._check_disabled(p_destination_id integer) returns void
language plpgsql stable
as $$
declare
    v_queue record;
begin
    select d.name, d.disable_after, d.disabled_at into v_queue from howdah.destinations d where d.id = p_destination_id;
    if v_queue.disabled_at is not null then
        raise exception using errcode = 'HD016',
            message = format('queue %s was disabled by %s failures in a row', quote_literal(v_queue.name), v_queue.disable_after),
            hint = 'See howdah.incidents(queue). An administrator enables it with howdah.resume(queue).';
    end if;
end
$$;
