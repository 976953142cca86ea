-- howdah._listener_warning(p_listener): what is wrong with a listener's limit compared with its queue's.
--
-- Returns  a sentence (text); NULL if nothing is wrong.
-- Role     internal
--
-- A listener that stops first never lets a message reach the limit at which it would be moved away.
create or replace function howdah._listener_warning(p_listener howdah.listeners) returns text
language sql stable
as $$
    select format('listener %s stops at failure %s, before queue %s disposes of a message at failure %s: '
        'set sequential_failures above %s, or stop_on_failure to false',
        p_listener.name, howdah._listener_limit(p_listener), d.name, d.dispose_at, d.dispose_at)
    from howdah.destinations d
    where d.id = p_listener.destination_id
      and d.dispose_at < 1000000 and howdah._listener_limit(p_listener) <= d.dispose_at
$$;
