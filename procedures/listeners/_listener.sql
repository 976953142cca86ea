-- howdah._listener(p_name, p_verb): the listener of that name, if the caller may use its queue so.
--
-- Returns  the row of howdah.listeners; p_verb is receive or admin.
-- Raises   HD001 no such queue; HD010 not allowed; HD020 there is no such listener.
-- Role     internal
create or replace function howdah._listener(p_name text, p_verb text) returns howdah.listeners
language plpgsql volatile
as $$
declare
    v_listener howdah.listeners;
begin
    select l.* into v_listener from howdah.listeners l where l.name = p_name;
    if not found then
        raise exception using errcode = 'HD020',
            message = format('there is no listener %s', coalesce(quote_literal(left(p_name, 250)), 'NULL')),
            hint = 'Create it with howdah.create_listener(listener, queue), or see howdah.list_listeners().';
    end if;
    perform howdah._destination(howdah._name(v_listener.destination_id), p_verb);
    return v_listener;
end
$$;

-- howdah._with_listener_options(p_listener, p_options): a listener's row with options applied.
--
-- Returns  the changed row; nothing is written.
-- Raises   HD004 an option is unknown or wrong.
-- Role     internal
create or replace function howdah._with_listener_options(p_listener howdah.listeners, p_options jsonb) returns howdah.listeners
language plpgsql volatile
as $$
begin
    perform howdah._check_options('listener', p_options);
    return jsonb_populate_record(p_listener, p_options);
end
$$;

-- howdah._listener_limit(p_listener): how many failures in a row stop a listener.
--
-- Returns  integer, 1 at least; NULL if failures never stop it.
-- Role     internal
create or replace function howdah._listener_limit(p_listener howdah.listeners) returns integer
language sql immutable
as $$ select case when p_listener.stop_on_failure then greatest(p_listener.sequential_failures, 1) end $$;

-- howdah._listener_failures(p_listener): a listener's counter: its failures since the last handled message.
--
-- Returns  integer.
-- Role     internal
--
-- A success leaves a mark instead of writing to the listener's row, which it would keep locked through its COMMIT: sessions that
-- fail meanwhile would wait, and deadlock where the application's own rows are locked as well.
create or replace function howdah._listener_failures(p_listener howdah.listeners) returns integer
language sql stable
as $$
    select least(p_listener.failures, p_listener.total_failures - max(m.total_failures))::integer
    from howdah.listener_marks m where m.listener_id = p_listener.id
$$;

-- howdah._listener_warning(p_listener): what is wrong with a listener's limit beside its queue's.
--
-- Returns  a sentence, or NULL if nothing is.
-- Role     internal
--
-- A listener that stops first never lets a message reach the limit at which it would be moved out of the way.
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
