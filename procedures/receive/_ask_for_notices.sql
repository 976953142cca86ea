-- howdah._ask_for_notices(p_positions, p_waiting): make senders to a destination notify for two seconds.
--
-- Returns  true.
-- Role     internal
create or replace function howdah._ask_for_notices(p_positions regclass, p_waiting regclass) returns boolean
language plpgsql volatile
as $$
declare
    v_pace bigint := howdah._pace(clock_timestamp());
    v_tail bigint := howdah._hint(p_positions);
    v_last bigint := pg_sequence_last_value(p_waiting);
    v_asked boolean := v_last is not null;
    v_age bigint;
begin
    if not v_asked then
        v_last := nextval(p_waiting);  -- this returns the value that was set as not called
    end if;
    v_age := v_pace - (v_last >> 20);
    -- For a second, the first request or its refusal holds for all. So the sends between two requests measure the rate.
    if v_age not between 0 and 999 then
        perform setval(p_waiting, (v_pace << 20) | (v_tail & 1048575),
            v_age not between 0 and 59999 or (v_tail - v_last) & 1048575 <= v_age / 4);
    elsif not v_asked then
        perform setval(p_waiting, v_last, false);
    end if;
    return true;
end
$$;
