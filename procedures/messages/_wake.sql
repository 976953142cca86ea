-- howdah._wake(p_destination_id, p_waiting, p_prefix): when the caller's transaction commits, wake whoever waits for a
-- message.
--
-- Returns  true, so that it can stand in a WHERE.
-- Role     internal
--
-- Only called if p_waiting has a value: somebody asked to be woken. The value is when, in ms, times 2^20, plus the
-- position then. What was asked over two seconds ago is taken back, so that later senders need not come here. The
-- payload is the destination's number, for anybody can listen; after p_prefix if it is a topic's, for a topic wakes all
-- its subscribers.
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
