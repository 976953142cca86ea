-- howdah._check_home(p_homeless): raise an error if a message has no queue to go back to.
--
-- Returns  nothing.
-- Raises   HD001 p_homeless, the message's id, is not NULL.
-- Role     internal
create or replace function howdah._check_home(p_homeless bigint) returns void
language plpgsql immutable
as $$
begin
    if p_homeless is not null then
        raise exception using errcode = 'HD001', message = format('message %s has no queue to go back to', p_homeless),
            hint = 'Name one: howdah.replay(queue, message_ids, target => ...).';
    end if;
end
$$;
