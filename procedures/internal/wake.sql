-- howdah._wake(p_destination_id, p_waiting): when the caller's transaction commits, wake whoever waits for a message.
--
-- Returns  true, so that it can stand in a WHERE.
-- Role     internal
--
-- One expression of the sender's statement (0.3 us), which commits without a NOTIFY unless somebody waits. p_waiting holds when
-- howdah.wait last looked, in ms, times 2, plus 1 if it asked to be woken, times 2^20, plus the position then. Asked less than
-- 2,048 ms ago: the difference below is even and under 4,096. The payload is the destination's number, for anybody can listen.
create or replace function howdah._wake(p_destination_id integer, p_waiting regclass) returns boolean
language sql volatile
as $$
    select case
        when 2 * howdah._pace(clock_timestamp()) + 1 - (coalesce(pg_sequence_last_value(p_waiting), 0) >> 20) & -4095 = 0
            then pg_notify('howdah', p_destination_id::text) is not null
        else true
    end
$$;
