-- howdah._listener_failures(p_listener): a listener's counter: its failures since the last handled message.
--
-- Returns  integer.
-- Role     internal
--
-- A success leaves a mark and does not write to the listener's row, which would stay locked until COMMIT. Sessions that
-- fail meanwhile would wait, and deadlock if the application's own rows are locked, too.
create or replace function howdah._listener_failures(p_listener howdah.listeners) returns integer
language sql stable
as $$
    select least(p_listener.failures, p_listener.total_failures - max(m.total_failures))::integer
    from howdah.listener_marks m where m.listener_id = p_listener.id
$$;
