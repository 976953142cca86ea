-- howdah._wake(p_destination_id, p_waiting, p_prefix): wake whoever waits for a message when the caller's transaction
-- commits.
--
-- Returns  true, so that it can stand in a WHERE clause.
-- Role     internal
--
-- Call it only if p_waiting has a value: somebody asked to be woken. The value is the time of the request in ms, times
-- 2^20, plus the position at that time.
--
-- A request over two seconds old is withdrawn, so that later senders skip this call. The payload is the destination's
-- number, because anybody can LISTEN. For a topic, p_prefix stands before it, because a topic wakes all its
-- subscribers.
create or replace function howdah._wake(
    p_destination_id integer, p_waiting regclass, p_prefix text default ''
) returns boolean
language plpgsql volatile
as $$
declare
    v_last bigint := pg_sequence_last_value(p_waiting);
begin
    if howdah._pace(clock_timestamp()) - (v_last >> 20) between 0 and 2000 then
        perform pg_notify('howdah', p_prefix || p_destination_id);
    elsif v_last is not null then
        perform setval(p_waiting, v_last, false);
    end if;
    return true;
end
$$;
