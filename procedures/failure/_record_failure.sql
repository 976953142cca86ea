-- howdah._record_failure(p_destination, p_failure, p_in_hand, p_proved): store one incident, and apply the queue's
-- policy if the message is free.
--
-- Returns  incident_id, attempt and outcome, as howdah.record_failure. With p_in_hand nothing is applied, and the
--          outcome is what howdah.settle_failures will do. The outcome unproved means that nothing is stored: the queue
--          is hardened, and no recorded attempt at the message is without a failure.
-- Raises   HD005 wrong argument.
-- Role     internal
--
-- Sessions that record failures of one message take turns, so that two failures get different numbers.
--
-- Every delivery from a hardened queue has a recorded attempt. A failure without one never happened: it is unproved, or
-- does not count if the message is gone. A failure of a message under a lease does not count either; the lease's holder
-- calls howdah.nack. p_proved: the caller had the message, so nothing is checked.
create or replace function howdah._record_failure(
    p_destination howdah.destinations, p_failure jsonb, p_in_hand boolean, p_proved boolean default false
)
returns table (incident_id bigint, attempt integer, outcome text)
language plpgsql volatile
as $$
declare
    v_failure record;
    v_found record;
    v_stage smallint;
    v_conversation uuid;
    v_group text;
    v_weight integer;
    v_verdict text;
    v_due_at timestamptz;
    v_leased boolean;
    v_uncounted boolean;
    v_now timestamptz;
begin
    perform howdah._commit_needs(4);
    select * into v_failure from howdah._read_failure(p_failure);
    if p_destination.poison_handling and p_destination.disable_after > 0 then
        -- before any message's lock, so that two calls cannot deadlock
        perform howdah._await_recorders(p_destination.id, null);
    end if;
    perform howdah._await_recorders(null, v_failure.message_id);
    v_failure.failure_key := howdah._failure_key(p_destination.id, v_failure.message_id, v_failure.failure_key,
        p_destination.backout_count = 'hardened');
    select p.incident_id, p.attempt, p.outcome into incident_id, attempt, outcome
    from howdah.poison_details p where p.failure_key = v_failure.failure_key;
    if found then
        return next;
        return;
    end if;

    select * into v_found
    from howdah._find(p_destination.id, v_failure.message_id, v_failure.priority, v_failure."position");
    v_leased := not p_proved and v_found.free is not true
        and (v_found.place in ('msgs', 'msgs_nonpersistent')) is not true
        and howdah._is_leased(p_destination.id, v_failure.message_id);
    v_uncounted := v_leased;
    if p_destination.backout_count = 'hardened' and not p_proved and not exists (
        select from howdah.attempts a
        where a.attempt_id = v_failure.failure_key and a.message_id = v_failure.message_id
          and a.destination_id = p_destination.id
          and (v_found.place is null or a.stage = (v_found.message).stage)
    ) then
        if v_found.place is not null then
            outcome := 'unproved';
            return next;
            return;
        end if;
        v_uncounted := true;  -- the attempt may be gone because the consumer died after its COMMIT
    end if;
    perform nextval(p_destination.failing);
    if v_found.place = 'msgs' then
        perform howdah._search_from(p_destination.id, (v_found.message).rank, (v_found.message).seq);
    end if;
    v_stage := coalesce((v_found.message).stage, v_failure.stage, 0);
    v_conversation := coalesce((v_found.message).conversation_id, v_failure.conversation_id);
    v_group := case when v_found.place is null
        then coalesce(left(v_failure.message_group, 500), v_failure.conversation_id::text)
        else howdah._group((v_found.message).headers, (v_found.message).conversation_id) end;
    -- In a hardened queue, an attempt that was begun beforehand counts already.
    select s.failures + b.more, case when v_failure.reject or s.weight > s.failures then 2147483647
        else s.weight + b.more end
    into attempt, v_weight
    from howdah._standing(p_destination.id, v_failure.message_id, v_stage, v_conversation, v_group,
        v_failure.failure_key) s
    cross join (select case when p_destination.backout_count = 'hardened' and exists (
        select from howdah.attempts a
        where a.attempt_id = v_failure.failure_key
          and a.message_id = v_failure.message_id) then 0 else 1 end as more) b;
    -- It is on record before the message is released. Whoever finds the message first makes it wait, as it would
    -- dispose of one at its limit.
    v_verdict := howdah._verdict(p_destination, v_weight, v_failure.delay_ms::bigint);
    if v_found.place is not null and not v_uncounted and v_verdict = 'delayed' then
        v_due_at := howdah.now() + howdah._redelivery_delay(p_destination, v_weight, v_failure.delay_ms::bigint);
    end if;
    if v_leased then
        outcome := 'held';
    elsif v_found.place is null then
        outcome := 'gone';
    elsif p_in_hand then
        outcome := v_verdict;
    elsif not v_found.free then
        outcome := 'held';
    else
        outcome := howdah._delay_or_dispose(p_destination, v_found.message, v_found.place, v_found.nonpersistent,
            v_weight, v_failure.delay_ms::bigint, v_due_at);
    end if;
    v_now := howdah.now();
    insert into howdah.poison_details as i (message_id, recorded_at, destination_id, attempt, duration_ms, stage,
        outcome, conversation_id, message_group, failure_key, error_class, error_text, sqlstate, traceback, worker,
        recorded_by,
        details, rejected, uncounted, delay_ms, due_at, fingerprint, digest, dispose_at)
    values (v_failure.message_id, v_now, p_destination.id, attempt, v_failure.duration_ms, v_stage, outcome,
        v_conversation, v_group, v_failure.failure_key, v_failure.error_class, v_failure.error_text, v_failure.sqlstate,
        v_failure.traceback, v_failure.worker,
        howdah._caller(),
        case when v_uncounted then coalesce(nullif(v_failure.details, 'null'), '{}') || '{"uncounted": true}'
             else nullif(v_failure.details, 'null') end,
        coalesce(v_failure.reject and not v_uncounted, false), v_uncounted,
        case when not v_uncounted then v_failure.delay_ms::bigint end, v_due_at,
        howdah._fingerprint(v_failure.error_class, v_failure.error_text, v_failure.sqlstate),
        howdah._seal((select e.digest_secret from howdah.engine e), v_failure.message_id, v_now, v_failure.error_class,
            v_failure.error_text, v_failure.sqlstate),
        case when p_destination.decided_at = 'failure' and p_destination.count_by = 'message'
            and p_destination.backout_count <> 'volatile'
             then p_destination.dispose_at end)
    returning i.incident_id into incident_id;
    if not v_uncounted then
        perform howdah._note_streak(p_destination.id, v_failure.message_id);
    end if;
    if not p_in_hand and not v_uncounted then
        perform howdah._clean_incidents(p_destination, v_failure.message_id, v_conversation, v_group, outcome);
    end if;
    return next;
end
$$;
