-- howdah._admit(p_destination_id, p_rank, p_selector, p_consumer, p_hold): how the caller may look for messages of a queue that is not an ordinary one.
--
-- Returns  howdah.walk; admitted false: another consumer is at work or active there, or in a queue of strict order a message that waits for its
--          redelivery is next. groups NULL: as in any queue.
-- Raises   HD019 the queue is hardened and this is no attempt; HD023 the selector is invalid; HD032 the consumer is not open.
-- Role     internal
--
-- Strict order, single, failover and exclusive consumers: the consumer's transaction holds an advisory lock, so the next one comes to its end first. In strict
-- order a message given back is the first again, and one that is delayed or blocked holds up all others of the queue: that is more than groups of
-- transactions ask for, so these are not looked at. Where one at a time is admitted for another reason such groups are `alone`: as `transaction`, and
-- nothing that is free is passed by.
create or replace function howdah._admit(p_destination_id integer, p_rank smallint, p_selector text, p_consumer bigint, p_hold boolean)
returns howdah.walk
language plpgsql volatile
as $$
declare
    v_queue howdah.destinations;
    v_walk howdah.walk;
    v_alone boolean;
    v_turn record;
begin
    select d.* into v_queue from howdah.destinations d where d.id = p_destination_id;
    perform howdah._check_hardened(v_queue);
    v_walk.admitted := true;
    if btrim(p_selector) <> '' then
        v_walk.selector := btrim(p_selector);
        v_walk.condition := howdah._selection(p_destination_id, p_rank, v_walk.selector);
    end if;
    v_walk.hold := p_hold;
    v_alone := v_queue.strict_order;
    if p_consumer is not null or v_queue.delivery_policy <> 'shared' or v_queue.message_groups = 'sticky'
       or exists (select from howdah.consumers c where c.destination_id = p_destination_id and c.exclusive) then
        v_turn := howdah._turn(v_queue, p_consumer, howdah.now());
        v_walk.admitted := v_turn.admitted;
        v_walk.share := v_turn.share;
        v_alone := v_alone or v_turn.alone;
    end if;
    v_walk.consumer := p_consumer;
    if v_walk.admitted and v_alone then
        v_walk.admitted := pg_try_advisory_xact_lock(howdah._lock_key('turn', p_destination_id::text))
            and not (v_queue.strict_order
                and (howdah._parks_waiting(v_queue, howdah.now()) or howdah._is_held_up(p_destination_id, howdah.now())));
    end if;
    if v_alone and v_queue.message_groups = 'transaction' then
        v_queue.message_groups := case when v_queue.strict_order then 'none' else 'alone' end;
    end if;
    if v_walk.condition is not null or howdah._is_walked(v_queue) then
        v_walk.groups := v_queue.message_groups;
    end if;
    return v_walk;
end
$$;

-- howdah._parks_waiting(p_queue, p_now): park what waits for the delay of a recorded failure and still lies in its place.
--
-- Returns  boolean: there was such a message.
-- Role     internal
--
-- In strict order it holds up all that is behind it, so it is looked for before any message is taken. Few wait there at a time.
create or replace function howdah._parks_waiting(p_queue howdah.destinations, p_now timestamptz) returns boolean
language plpgsql volatile
    set enable_seqscan = off
as $$
declare
    v_incident record;
    v_found record;
    v_parked boolean := false;
begin
    if pg_sequence_last_value(p_queue.failing) is null then
        return false;
    end if;
    for v_incident in
        select p.message_id, p.stage from howdah.poison_details p where p.destination_id = p_queue.id and p.due_at > p_now
        group by p.message_id, p.stage
    loop
        continue when exists (select from howdah.parked w where w.destination_id = p_queue.id and w.message_id = v_incident.message_id)
            or (howdah._waits_until(p_queue.id, v_incident.message_id, v_incident.stage) > p_now) is not true;
        select * into v_found from howdah._find(p_queue.id, v_incident.message_id, null, null);
        if v_found.free and (v_found.message).stage = v_incident.stage and v_found.place <> 'parked' then
            perform howdah._dispose(p_queue.id, v_found.message, v_found.nonpersistent, v_found.place, p_now);
            perform set_config('howdah.disposed', '', true);
            v_parked := true;
        end if;
    end loop;
    return v_parked;
end
$$;

-- howdah._is_held_up(p_destination_id, p_now): whether messages of a queue of strict order must wait for one that is not there.
--
-- Returns  boolean: one is leased, delayed or blocked; or it is due, and another transaction, which is still open, has it in hand: it acknowledges
--          it, gives it back, extends its lease or retries it.
-- Role     internal
--
-- The caller has the turn. Whoever is in hand is seen by the lock on its row, which is tried and let go of again; after that, so that a lease that was
-- extended meanwhile is seen as such.
create or replace function howdah._is_held_up(p_destination_id integer, p_now timestamptz) returns boolean
language plpgsql volatile
    set enable_seqscan = off
as $$
declare
    v_reasons text[] := array['redelivery', 'blocked', 'quarantine', 'lease'];
    v_in_hand boolean := false;
begin
    perform howdah._return_leases(p_destination_id, null, p_now);
    if exists (select from howdah.parked p
               where p.destination_id = p_destination_id and p.parked_reason = any (v_reasons) and p.due_at <= p_now and p.xmax <> 0) then
        begin
            v_in_hand := (select count(*) from howdah.parked p
                          where p.destination_id = p_destination_id and p.parked_reason = any (v_reasons) and p.due_at <= p_now)
                > (select count(*) from (select from howdah.parked p
                                         where p.destination_id = p_destination_id and p.parked_reason = any (v_reasons) and p.due_at <= p_now
                                         for update skip locked) f);
            raise exception 'the locks go with this';
        exception when raise_exception then
            null;
        end;
    end if;
    return v_in_hand or exists (
        select from howdah.parked p
        where p.destination_id = p_destination_id and p.parked_reason = any (v_reasons) and p.due_at > p_now
        union all
        select from howdah.leases l cross join lateral howdah._in_lease(p_destination_id, l.lease_id)
        where l.destination_id = p_destination_id);
end
$$;

-- howdah._check_hardened(p_queue): refuse to receive from a hardened queue outside an attempt.
--
-- Raises   HD019 the queue is hardened and this is no attempt.
-- Role     internal
create or replace function howdah._check_hardened(p_queue howdah.destinations) returns void
language plpgsql volatile
as $$
begin
    if p_queue.backout_count = 'hardened' and not howdah._is_attempting() then
        raise exception using errcode = 'HD019', message = format('queue %s is hardened: an attempt is committed before its message is received', quote_literal(p_queue.name)),
            hint = 'Call howdah.begin_attempts(queue), COMMIT, and then howdah.receive_attempt(queue, attempt_id).';
    end if;
end
$$;

-- howdah._is_strict(p_destination_id): whether a queue is of strict order.
--
-- Returns  boolean.
-- Role     internal
create or replace function howdah._is_strict(p_destination_id integer) returns boolean
language sql stable
as $$ select d.strict_order from howdah.destinations d where d.id = p_destination_id $$;

-- howdah._is_one_by_one(p_destination_id): whether a queue admits one consumer at a time by its options, so that nothing that is free is to be passed by.
--
-- Returns  boolean.
-- Role     internal
create or replace function howdah._is_one_by_one(p_destination_id integer) returns boolean
language sql stable
as $$ select d.strict_order or d.delivery_policy in ('single', 'failover') from howdah.destinations d where d.id = p_destination_id $$;

-- howdah._is_walked(p_destination): whether a queue's options forbid simply taking what lies next, with or without a selector (docs/decisions/0011).
--
-- Returns  boolean.
-- Role     internal
create or replace function howdah._is_walked(p_destination howdah.destinations) returns boolean
language sql immutable
as $$ select p_destination.strict_order or p_destination.message_groups <> 'none' or p_destination.delivery_policy <> 'shared' $$;

-- howdah._is_plain(p_destination_id, p_groups): whether nothing but the main lane of a queue can have a message to give.
--
-- Returns  boolean; false too if the queue's message groups are not p_groups, none or transaction.
-- Role     internal
--
-- Its other lanes, if it has any, hold parked messages only, and none of those is due. A lane of a row without hints is asked for by the row that has
-- them, if there is one; lanes of groups are walked from their beginning, and so need none.
create or replace function howdah._is_plain(p_destination_id integer, p_groups text default 'none') returns boolean
language plpgsql volatile
as $$
begin
    return exists (select from howdah.destinations d
                   where d.id = p_destination_id and not d.strict_order and d.backout_count <> 'hardened'
                     and d.message_groups = p_groups and d.delivery_policy = 'shared')
        and not exists (select from howdah.consumers c where c.destination_id = p_destination_id and c.exclusive)
        and not exists (select from howdah.lanes l
                        where l.destination_id = p_destination_id
                          and (l.place > 0
                               or (l.head is not null
                                   or not exists (select from howdah.lanes o
                                                  where o.destination_id = l.destination_id and o.rank = l.rank and o.place = l.place and o.head is not null))
                                  and howdah._may_be_due(case when p_groups = 'none' then l
                                                              else row(l.id, l.destination_id, l.rank, l.place, null, null)::howdah.lanes end, howdah.now())));
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

-- howdah._note_special(p_destination): have receives ask how they may look in a queue that is not an ordinary one.
--
-- Role     internal
--
-- A walk begins where its hint says that nothing lies before. The claims of an ordinary queue set the same hint without that promise: it is forgotten once
-- those have ended that are under way at the first mark (howdah._mark). A REPEATABLE READ transaction older than the change may still claim as before.
create or replace function howdah._note_special(p_destination howdah.destinations) returns void
language plpgsql volatile
as $$
begin
    if howdah._is_walked(p_destination) or p_destination.backout_count = 'hardened' then
        perform nextval(p_destination.special);
    end if;
    if howdah._is_walked(p_destination) then
        perform setval(coalesce(to_regclass('howdah.mark_' || p_destination.id), howdah._new_hint('mark_' || p_destination.id)), 0);
    end if;
end
$$;
