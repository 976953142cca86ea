-- howdah._stamped(p_headers, p_user): the headers of a message to a queue or topic that stamps its sender's role.
--
-- Returns  jsonb; p_headers as they are if they are no JSON object, which is refused later.
-- Role     internal
--
-- What the sender wrote there himself does not count: in JMS the provider sets JMSXUserID. Called where stamp_user is
-- true only, for a call costs each send some microseconds.
create or replace function howdah._stamped(p_headers jsonb, p_user text) returns jsonb
language sql immutable
as $$
    select case when coalesce(jsonb_typeof(p_headers), 'object') = 'object'
        then coalesce(p_headers, '{}') || jsonb_build_object('JMSXUserID', p_user) else p_headers end
$$;
