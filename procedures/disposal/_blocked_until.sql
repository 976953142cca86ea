-- howdah._blocked_until(p_destination): when a message that stays past its limit is tried again.
--
-- Returns  timestamptz; the end of the year 9999, the last that every client can read, means not before howdah.retry.
-- Role     internal
--
-- As in WebSphere, the queue's own value counts only where it overrides the engine's, whose default is 5,000 ms.
create or replace function howdah._blocked_until(p_destination howdah.destinations) returns timestamptz
language sql volatile
as $$
    select case when p_destination.override_blocked_retry and p_destination.blocked_retry_ms < 0
        then timestamptz '9999-12-31 00:00+00'
        else howdah.now() + interval '1 millisecond' * case
            when p_destination.override_blocked_retry then p_destination.blocked_retry_ms
            else e.default_blocked_retry_ms end end
    from howdah.engine e
$$;
