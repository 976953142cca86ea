-- howdah._look_up(p_destination_id, p_message_id, p_correlation_id): the messages of a queue with that number, or that correlation id.
--
-- Returns  each message, whether it is non-persistent, and when it is due (NULL: now); without what a restart has lost and, by correlation id, what is leased for longer; not in order.
-- Role     internal
--
-- By the positions that its number and the table moved tell, and by an index over the correlation ids' hashes. Nothing is locked.
create or replace function howdah._look_up(p_destination_id integer, p_message_id bigint, p_correlation_id text)
returns table (message howdah.msgs, nonpersistent boolean, due_at timestamptz)
language plpgsql stable set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
    v_ranks constant smallint[] := '{0,1,2,3,4,5,6,7,8,9}';
    v_boot constant timestamptz := pg_postmaster_start_time();
    v_seqs bigint[];
begin
    if p_correlation_id is not null then
        return query
        select f.message, f.nonpersistent, f.due_at from (
            select m as message, false as nonpersistent, null::timestamptz as due_at from howdah.msgs m
            where hashtextextended(m.correlation_id, 0) = hashtextextended(p_correlation_id, 0) and m.correlation_id = p_correlation_id
            union all
            select howdah._as_ready(n), true, null from howdah.msgs_nonpersistent n
            where hashtextextended(n.correlation_id, 0) = hashtextextended(p_correlation_id, 0) and n.correlation_id = p_correlation_id
              and n.boot = v_boot
            union all
            select howdah._as_ready(p), p.boot is not null, p.due_at from howdah.parked p
            where hashtextextended(p.correlation_id, 0) = hashtextextended(p_correlation_id, 0) and p.correlation_id = p_correlation_id
              and (p.boot is null or p.boot = v_boot)
            union all
            select howdah._unleased(o), false, l.until
            from howdah.leases l cross join lateral howdah._in_lease(l.destination_id, l.lease_id) o
            where l.destination_id = p_destination_id and l.until <= howdah.now() and o.correlation_id = p_correlation_id
            offset 0  -- else the key may seem as good a way where there are no statistics
        ) f
        where (f.message).destination_id = p_destination_id;
        return;
    end if;
    v_seqs := howdah._positions(p_destination_id, p_message_id);
    return query
    select k.* from unnest(v_ranks) r(rank) cross join unnest(v_seqs) s(seq) cross join lateral (
        select m, false, null::timestamptz from howdah.msgs m
        where m.destination_id = p_destination_id and m.rank = r.rank and m.seq = s.seq and m.message_id = p_message_id
        union all
        select howdah._as_ready(n), true, null from howdah.msgs_nonpersistent n
        where n.destination_id = p_destination_id and n.rank = r.rank and n.seq = s.seq
          and n.message_id = p_message_id and n.boot = v_boot
        offset 0  -- one look for each priority and position, as howdah._find
    ) k;
    if found then
        return;
    end if;
    return query
    select howdah._as_ready(p), p.boot is not null, p.due_at from howdah.parked p
    where p.destination_id = p_destination_id and p.message_id = p_message_id and (p.boot is null or p.boot = v_boot)
    union all
    select howdah._unleased(o), false, l.until
    from howdah.leases l cross join lateral howdah._in_lease(l.destination_id, l.lease_id, array[p_message_id]) o
    where l.destination_id = p_destination_id;
end
$$;

-- howdah._queue_for_look_up(p_queue): a queue whose messages the caller may take out of their order.
--
-- Returns  howdah.destinations.
-- Raises   HD001 no such queue; HD005 it is a subscription or keeps an order; HD009 receiving is paused; HD010 not allowed; HD016 failures
--          in a row disabled the queue; HD019 the queue is hardened.
-- Role     internal
create or replace function howdah._queue_for_look_up(p_queue text) returns howdah.destinations
language plpgsql volatile
as $$
declare
    v_queue howdah.destinations := howdah._queue(p_queue, 'receive');
begin
    if v_queue.kind <> 'queue' or howdah._is_walked(v_queue)
       or exists (select from howdah.consumers c where c.destination_id = v_queue.id and c.exclusive) then
        raise exception using errcode = 'HD005', message = format('%s is read in its order only', quote_literal(p_queue)),
            hint = 'Messages of a subscription, or of a queue with strict_order, message_groups, another delivery_policy than shared or an exclusive'
                ' consumer, cannot be taken out of their order.';
    elsif v_queue.receiving_paused then
        perform howdah._check_disabled(v_queue.id);
        raise exception using errcode = 'HD009', message = format('receiving from queue %s is paused', quote_literal(p_queue)),
            hint = 'An administrator resumes it with howdah.resume(queue).';
    end if;
    perform howdah._check_hardened(v_queue);
    perform howdah._sweep_lost();
    return v_queue;
end
$$;

-- howdah._take_found(p_queue, p_message, p_due_at): take a message that was looked up, if it is free and may be delivered.
--
-- Returns  howdah.message; nothing: it is in other hands, gone, not due, or was disposed of.
-- Role     internal
create or replace function howdah._take_found(p_queue howdah.destinations, p_message howdah.msgs, p_due_at timestamptz)
returns setof howdah.message
language plpgsql volatile
as $$
declare
    v_now timestamptz := howdah.now();
    v_found record;
    v_failed record;
begin
    if p_due_at > v_now then
        return;
    end if;
    select f.* into v_found
    from howdah._find(p_queue.id, p_message.message_id, 9 - p_message.rank, p_message.seq) f;
    if v_found.free is not true or (v_found.message).stage <> p_message.stage
       or exists (select from howdah.parked w where w.destination_id = p_queue.id and w.message_id = p_message.message_id
                  and w.due_at > v_now) then
        return;
    end if;
    perform howdah._blame_leases(p_queue.id, array[p]) from howdah.parked p
    where v_found.place = 'parked' and p.destination_id = p_queue.id and p.message_id = p_message.message_id and p.lease_id is not null;
    perform howdah._remove(v_found.message, v_found.place);
    select coalesce(max(c.failures), 0) as failures, coalesce(max(c.weight), 0) as weight into v_failed
    from howdah._count_failures(p_queue.id, array[p_message.message_id], array[p_message.stage], array[p_message.conversation_id],
        array[howdah._group(p_message.headers, p_message.conversation_id)]) c
    where c.stage = p_message.stage;
    if p_message.expires_at <= v_now or v_failed.weight >= p_queue.dispose_at then
        perform howdah._dispose(p_queue.id, v_found.message, v_found.nonpersistent, null, v_now);
        return;
    end if;
    return query select (howdah._message(v_found.message, p_queue.name, v_found.nonpersistent, v_failed.failures)).*;
    perform howdah._journal(p_queue, 'consumed', array[p_message.message_id], v_found.nonpersistent, null, null, p_message.sent_at);
end
$$;
