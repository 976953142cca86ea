-- howdah._told_failure(p_destination, p_failure, p_in_hand): record a failure that a consumer reports. The consumer may
-- never have had the message.
--
-- Returns  as howdah._record_failure.
-- Raises   HD005 wrong argument; HD022 the queue is hardened, and there is no recorded attempt at the message that
--          could have failed.
-- Role     internal
create or replace function howdah._told_failure(p_destination howdah.destinations, p_failure jsonb, p_in_hand boolean)
returns table (incident_id bigint, attempt integer, outcome text)
language plpgsql volatile
as $$
begin
    select r.incident_id, r.attempt, r.outcome into incident_id, attempt, outcome
    from howdah._record_failure(p_destination, p_failure, p_in_hand) r;
    if outcome = 'unproved' then
        raise exception using errcode = 'HD022',
            message = format('there is no recorded attempt at message %s of queue %s that could have failed',
                p_failure ->> 'message_id', quote_literal(p_destination.name)),
            hint =
                'The queue is hardened. Give the attempt of howdah.begin_attempts as failure_key, or call from the '
                'session that began it.';
    end if;
    return next;
end
$$;
