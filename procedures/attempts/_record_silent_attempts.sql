-- howdah._record_silent_attempts(p_destination, p_met): record last attempts that ended without a report, and apply the
-- queue's delay and block to their messages.
--
-- Returns  the messages that must wait now (bigint[]); the caller has them locked.
-- Role     internal
--
-- Each such attempt is recorded as an incident, because the policy works on what is recorded. A queue with neither
-- delay nor block needs no incidents: attempts begun count, and messages at the limit are disposed of.
create or replace function howdah._record_silent_attempts(
    p_destination howdah.destinations, p_met howdah.message[]
) returns bigint[]
language plpgsql volatile
as $$
declare
    v_silent record;
    v_waiting bigint[] := '{}';
begin
    if cardinality(p_met) = 0 or not (p_destination.at_limit = 'move' and p_destination.exception_mode = 'none'
            or p_destination.redelivery_delay_ms > 0 or p_destination.initial_redelivery_delay_ms > 0) then
        return v_waiting;
    end if;
    for v_silent in
        select a.attempt_id, m.message_id, m.priority, m."position", m.stage
        from unnest(p_met) m
        join howdah.attempts a on a.message_id = m.message_id and a.stage = m.stage
            and a.destination_id = p_destination.id
        where not exists (select from howdah.poison_details p where p.failure_key = a.attempt_id)
          and a.attempt_id not in (select d.attempt_id from howdah._in_doubt(p_destination.id, 10) d)
          and howdah._verdict(p_destination, howdah._failures(p_destination.id, m.message_id, m.stage::smallint, null,
              null), null)
              in ('delayed', 'blocked')
        order by a.begun_at
    loop
        perform howdah._record_failure(p_destination,
            jsonb_build_object('message_id', v_silent.message_id, 'failure_key', v_silent.attempt_id,
            'priority', v_silent.priority, 'position', v_silent."position", 'stage', v_silent.stage, 'error_class',
            'ConsumerEnded',
            'error_text', 'the consumer ended, or rolled back, without a word'), false);
        v_waiting := v_waiting || v_silent.message_id;
    end loop;
    return v_waiting;
end
$$;
