-- howdah._take_found(p_queue, p_message, p_due_at, p_permitted): take a message that was looked up, if it is free
-- and may be delivered.
--
-- Returns  howdah.message; no row if it is in somebody else's hands, gone, not due, or was disposed of.
-- Raises   HD005 a limit of concurrency needs READ COMMITTED.
-- Role     internal
--
-- p_permitted: the caller sees to the limits of concurrency and rates.
create or replace function howdah._take_found(
    p_queue howdah.destinations, p_message howdah.msgs, p_due_at timestamptz, p_permitted boolean default false
) returns setof howdah.message
language plpgsql volatile set enable_seqscan = off set jit = off
as $$
declare
    v_now timestamptz := howdah.now();
    v_found record;
    v_failed record;
    v_parked tid[];
begin
    if p_due_at > v_now then
        return;
    elsif p_queue.limited and not p_permitted then
        return query select * from howdah._take_permitted(p_queue, p_message, p_due_at);
        return;
    end if;
    select f.* into v_found
    from howdah._find(p_queue.id, p_message.message_id, 9 - p_message.rank, p_message.seq) f;
    v_parked := howdah._parked_rows(p_queue.id, array[p_message.message_id]);
    if v_found.free is not true or (v_found.message).stage <> p_message.stage
       or exists (select from howdah.parked w where w.ctid = any (v_parked) and w.due_at > v_now) then
        return;
    end if;
    perform howdah._blame_leases(p_queue.id, array[p]) from howdah.parked p
    where v_found.place = 'parked' and p.ctid = any (v_parked) and p.lease_id is not null;
    perform howdah._remove(v_found.message, v_found.place);
    select coalesce(max(c.failures), 0) as failures, coalesce(max(c.weight), 0) as weight into v_failed
    from howdah._count_failures(p_queue.id, array[p_message.message_id], array[p_message.stage],
        array[p_message.conversation_id], array[howdah._group(p_message.headers, p_message.conversation_id)]) c
    where c.stage = p_message.stage;
    if p_message.expires_at <= v_now or v_failed.weight >= p_queue.dispose_at then
        perform howdah._dispose(p_queue.id, v_found.message, v_found.nonpersistent, null, v_now);
        return;
    end if;
    perform howdah._commit_needs(howdah._level_of((v_found.message).reliability, v_found.nonpersistent));
    return next howdah._message(v_found.message, p_queue.name, v_found.nonpersistent, v_failed.failures);
    if p_queue.keep_bodies_ms is not null then
        perform howdah._keep(p_queue.id, array[howdah._message(v_found.message, p_queue.name,
            v_found.nonpersistent, v_failed.failures)], p_queue.keep_bodies_ms);
    end if;
    perform howdah._journal(p_queue, 'consumed', array[p_message.message_id], v_found.nonpersistent, null, null,
        p_message.sent_at);
end
$$;
