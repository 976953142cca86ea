-- howdah._delay_or_dispose(p_destination, p_message, p_place, p_nonpersistent, p_failures, p_delay_ms, p_due_at): delay
-- the redelivery of a message that the caller has locked, or dispose of it at its limit.
--
-- Returns  what was done, as howdah._verdict. p_due_at: when the recorded delay ends; NULL: none was recorded, and the
--          delay begins now.
-- Role     internal
create or replace function howdah._delay_or_dispose(
    p_destination howdah.destinations, p_message howdah.msgs, p_place text, p_nonpersistent boolean, p_failures integer,
    p_delay_ms bigint, p_due_at timestamptz
) returns text
language plpgsql volatile
as $$
declare
    v_verdict text := howdah._verdict(p_destination, p_failures, p_delay_ms);
begin
    if v_verdict = 'delayed' then
        perform howdah._remove(p_message, p_place);
        perform howdah._park(p_message, p_nonpersistent,
            coalesce(p_due_at, howdah.now() + howdah._redelivery_delay(p_destination, p_failures, p_delay_ms)),
            'redelivery');
    elsif v_verdict <> 'returned' then
        perform howdah._remove(p_message, p_place);
        return howdah._apply_limit_policy(p_destination, p_message, p_nonpersistent, howdah._death_reason(p_failures));
    end if;
    return v_verdict;
end
$$;
