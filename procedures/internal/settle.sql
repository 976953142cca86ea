-- howdah._verdict(p_destination, p_failures, p_delay_ms): what a queue's policy does with a message after so many failures.
--
-- Returns  moved, blocked, delayed or returned.
-- Role     internal
create or replace function howdah._verdict(p_destination howdah.destinations, p_failures integer, p_delay_ms bigint) returns text
language sql immutable
as $$
    select case
        when p_failures >= coalesce(nullif(p_destination.max_failed_deliveries, 0), 2147483647)
            then case when p_destination.exception_mode = 'none' then 'blocked' else 'moved' end
        when coalesce(p_delay_ms, p_destination.redelivery_delay_ms) > 0 then 'delayed'
        else 'returned'
    end
$$;

-- howdah._settle(p_destination, p_message, p_place, p_nonpersistent, p_failures, p_delay_ms): apply the policy to a message that the caller has locked.
--
-- Returns  what was done, as howdah._verdict.
-- Role     internal
create or replace function howdah._settle(
    p_destination howdah.destinations, p_message howdah.msgs, p_place text, p_nonpersistent boolean, p_failures integer,
    p_delay_ms bigint
) returns text
language plpgsql volatile
as $$
declare
    v_verdict text := howdah._verdict(p_destination, p_failures, p_delay_ms);
begin
    if v_verdict in ('moved', 'blocked') then
        perform howdah._remove(p_message, p_place);
        return howdah._bury(p_destination, p_message, p_nonpersistent, howdah._why(p_failures));
    elsif v_verdict = 'delayed' then
        perform howdah._remove(p_message, p_place);
        perform howdah._park(p_message, p_nonpersistent,
            howdah.now() + coalesce(p_delay_ms, p_destination.redelivery_delay_ms) * interval '1 millisecond', 'redelivery');
    end if;
    return v_verdict;
end
$$;
