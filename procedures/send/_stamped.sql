-- howdah._stamped(p_headers, p_user): the headers of a message to a queue or topic that stamps its sender's role.
--
-- Returns  jsonb; p_headers as they are if they are no JSON object, which is refused later.
-- Role     internal
--
-- What the sender wrote there himself does not count: in JMS the provider sets JMSXUserID. Called where stamp_user is true only, for a call costs
-- each send some microseconds.
create or replace function howdah._stamped(p_headers jsonb, p_user text) returns jsonb
language sql immutable
as $$
    select case when coalesce(jsonb_typeof(p_headers), 'object') = 'object'
        then coalesce(p_headers, '{}') || jsonb_build_object('JMSXUserID', p_user) else p_headers end
$$;

-- howdah._stamped_all(p_headers, p_count, p_user): the same for many messages.
--
-- Returns  jsonb[].
-- Role     internal
create or replace function howdah._stamped_all(p_headers jsonb[], p_count integer, p_user text) returns jsonb[]
language sql stable
as $$
    select case when coalesce(cardinality(p_headers), p_count) = p_count
        then array(select howdah._stamped(p_headers[n], p_user) from generate_series(1, p_count) n order by n) else p_headers end
$$;
