-- howdah._stamped(p_headers, p_user): a message's headers with the sender's role as JMSXUserID, for a destination with
-- stamp_user.
--
-- Returns  jsonb; p_headers unchanged if they are no JSON object, which is refused later.
-- Role     internal
--
-- A JMSXUserID that the sender wrote is overwritten: in JMS the provider sets it. Call this only where stamp_user is
-- true, because a call costs each send some microseconds.
create or replace function howdah._stamped(p_headers jsonb, p_user text) returns jsonb
language sql immutable
as $$
    select case when coalesce(jsonb_typeof(p_headers), 'object') = 'object'
        then coalesce(p_headers, '{}') || jsonb_build_object('JMSXUserID', p_user) else p_headers end
$$;
