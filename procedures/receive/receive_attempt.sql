-- howdah.receive_attempt(queue, attempt_id): take the message of an attempt that was begun and committed.
--
-- Returns  the message as howdah.receive; no row if it is gone, in somebody else's hands or not due, and then the
--          attempt does not count. Likewise if the queue has got limits of handlers since (docs/handler-limits.md).
-- Raises   HD001 no such queue; HD005 never, because the failure of a transformation is complete; HD009 receiving is
--          paused; HD010 not allowed; HD016 failures in a row disabled the queue; HD022 there is no such attempt, it
--          was begun in this transaction or before the server started, or it was taken before; HD040 the engine is
--          paused, quiesced or stopped; HD045 the master of changes is away; HD049 the transformation cannot be called
--          (docs/transformations.md).
-- Role     howdah_consumer howdah_admin
--
-- COMMIT consumes the message. ROLLBACK puts it back with one more failure. An attempt serves one call that returns its
-- message; begin another after a rollback.
--
-- If the call returns no row, COMMIT too, or call howdah.cancel_attempt. A rollback keeps the attempt, which counts in
-- the end.
create or replace function howdah.receive_attempt(queue text, attempt_id uuid) returns setof howdah.message
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
#variable_conflict use_column
declare
    v_destination howdah.destinations := howdah._destination(queue, 'receive');
    v_attempt howdah.attempts;
    v_found record;
    v_failures integer;
    v_group text;
    v_message howdah.message;
    v_transformation text;
begin
    select a.* into v_attempt from howdah.attempts a
    where a.attempt_id = receive_attempt.attempt_id and a.destination_id = v_destination.id;
    if not found then
        raise exception using errcode = 'HD022', message = format('there is no attempt %s at queue %s',
            coalesce(receive_attempt.attempt_id::text, 'NULL'), quote_literal(queue)),
            hint = 'Call howdah.begin_attempts(queue), COMMIT, and then this.';
    end if;
    perform howdah._check_untaken(queue, v_attempt.attempt_id, v_attempt.message_id);
    if v_destination.receiving_paused then
        perform howdah._refuse_paused(v_destination.id);
    end if;
    if v_destination.limited or v_destination.strict_order and not pg_try_advisory_xact_lock(howdah._lock_key('turn',
        v_destination.id::text)) then
        delete from howdah.attempts a where a.attempt_id = v_attempt.attempt_id and a.message_id = v_attempt.message_id;
        return;  -- no permit was taken for it; or another consumer is at work, and howdah._admit decides likewise
    end if;
    perform from howdah.msgs m
    where m.destination_id = v_destination.id and m.rank = v_attempt.rank and m.seq = v_attempt.seq
    for update skip locked;
    if not found then
        perform howdah._await_message(v_destination.id, v_attempt.rank, v_attempt.seq);
    end if;
    select * into v_found from howdah._find(v_destination.id, v_attempt.message_id, 9 - v_attempt.rank,
        v_attempt.seq) f;
    v_group := case when v_destination.message_groups <> 'none'
        then howdah._group((v_found.message).headers, (v_found.message).conversation_id) end;
    if v_found.free is not true or (v_found.message).stage <> v_attempt.stage
       or v_group is not null and not howdah._lock_group(v_destination.id, v_group)
       or (v_found.message).expires_at <= howdah.now()
       or exists (select from howdah.parked w where w.destination_id = v_destination.id
           and w.message_id = v_attempt.message_id and w.due_at > howdah.now())
       or howdah._waits_until(v_destination.id, v_attempt.message_id, v_attempt.stage) > howdah.now()
       or exists (select from howdah.poison_details p where p.failure_key = v_attempt.attempt_id) then
        delete from howdah.attempts a where a.attempt_id = v_attempt.attempt_id and a.message_id = v_attempt.message_id;
        return;
    end if;
    -- another session held it until the message was free
    perform howdah._check_untaken(queue, v_attempt.attempt_id, v_attempt.message_id);
    -- Count only attempts begun before this one. The number is then the same whichever attempt reaches the message
    -- first.
    v_failures := case when v_destination.backout_count = 'hardened'
        then (select count(*) from howdah.poison_details p
              where p.message_id = v_attempt.message_id and p.destination_id = v_destination.id
                and p.stage = v_attempt.stage)
           + (select count(*) from howdah.attempts a
              where a.message_id = v_attempt.message_id and a.destination_id = v_destination.id
                and a.stage = v_attempt.stage
                and (a.begun_at, a.attempt_id) < (v_attempt.begun_at, v_attempt.attempt_id)
                and not exists (select from howdah.poison_details p where p.failure_key = a.attempt_id))
        else howdah._failures(v_destination.id, v_attempt.message_id, v_attempt.stage, v_attempt.conversation_id,
            howdah._group((v_found.message).headers, v_attempt.conversation_id)) end;
    -- COMMIT forgets the attempt with the message; a rollback keeps it, and so it counts.
    delete from howdah.untaken_attempts u where u.attempt_id = v_attempt.attempt_id
        and u.message_id = v_attempt.message_id;
    delete from howdah.attempts a where a.attempt_id = v_attempt.attempt_id and a.message_id = v_attempt.message_id;
    v_message := howdah._message(v_found.message, v_destination.name, v_found.nonpersistent, v_failures);
    select s.transformation into v_transformation from howdah.subscriptions s
    where s.destination_id = v_destination.id;
    if v_transformation is not null then
        v_message := (select t from howdah._transformed(v_destination, v_transformation, array[v_message], true) t);
        if v_message.message_id is null then  -- that failure is recorded, in place of the attempt
            return;
        end if;
    end if;
    perform howdah._remove(v_found.message, v_found.place);
    perform howdah._commit_needs(howdah._level_of((v_found.message).reliability, v_found.nonpersistent));
    return next v_message;
    if v_destination.keep_bodies_ms is not null then
        perform howdah._keep(v_destination.id, array[v_message], v_destination.keep_bodies_ms);
    end if;
    perform howdah._journal(v_destination, 'consumed', array[v_attempt.message_id], v_found.nonpersistent, null, null,
        (v_found.message).sent_at);
end
$$;
