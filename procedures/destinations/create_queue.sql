-- howdah.create_queue(queue, options): create a queue.
--
-- Returns  the queue's number (integer).
-- Raises   HD002 it exists already; HD003 bad name; HD004 unknown or wrong option.
-- Role     howdah_admin
--
-- Options, as a JSON object: max_failed_deliveries (5), exception_mode (system, named, none), exception_queue,
-- redelivery_delay_ms (0), blocked_retry_ms (5000), max_message_bytes (73400320), default_priority (4),
-- default_time_to_live_ms (none), journal_level (off, exits, full; exits).
create or replace function howdah.create_queue(queue text, options jsonb default '{}') returns integer
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_destination howdah.destinations;
begin
    perform howdah._check_name(queue);
    v_destination := howdah._with_options(howdah._new_destination(queue), options);
    v_destination.journal_level_at := v_destination.created_at;
    return howdah._add_destination(v_destination);
end
$$;

-- howdah._new_destination(p_name): the row of a destination with every default, not yet stored.
--
-- Returns  howdah.destinations.
-- Role     internal
create or replace function howdah._new_destination(p_name text) returns howdah.destinations
language sql volatile
as $$
    select jsonb_populate_record(null::howdah.destinations, jsonb_build_object(
        'name', p_name, 'kind', 'queue', 'is_system', false, 'created_at', howdah.now(), 'created_by', howdah._caller(),
        'sending_paused', false, 'receiving_paused', false, 'max_failed_deliveries', 5, 'exception_mode', 'system',
        'redelivery_delay_ms', 0, 'blocked_retry_ms', 5000, 'max_message_bytes', 73400320, 'default_priority', 4,
        'journal_level', 'exits', 'journal_level_at', howdah.now()))
$$;

-- howdah._add_destination(p_destination): store a new destination and grant its use to Howdah's roles.
--
-- Returns  its number (integer).
-- Raises   HD002 a destination of that name exists.
-- Role     internal
create or replace function howdah._add_destination(p_destination howdah.destinations) returns integer
language plpgsql volatile
as $$
declare
    v_id integer := nextval(pg_get_serial_sequence('howdah.destinations', 'id'));
begin
    if v_id >= 1000000 then
        raise exception using errcode = 'HD002', message = 'a database has room for 999,999 queues over its life',
            hint = 'The number of a queue is part of its messages'' numbers.';
    end if;
    insert into howdah.destinations (id, name, kind, is_system, created_at, created_by, sending_paused, receiving_paused,
        max_failed_deliveries, exception_mode, exception_queue, redelivery_delay_ms, blocked_retry_ms, max_message_bytes,
        default_priority, default_time_to_live_ms, journal_level, journal_level_at,
        positions, failing, special, head, search, waiting, main_rank, senders, receivers)
    overriding system value
    select v_id, n.name, n.kind, n.is_system, n.created_at, n.created_by, n.sending_paused, n.receiving_paused,
        n.max_failed_deliveries, n.exception_mode, n.exception_queue, n.redelivery_delay_ms, n.blocked_retry_ms,
        n.max_message_bytes, n.default_priority, n.default_time_to_live_ms, n.journal_level,
        n.journal_level_at, howdah._new_positions(v_id), ('howdah.failing_' || v_id % 16)::regclass,
        ('howdah.special_' || v_id % 16)::regclass, howdah._new_hint('head_of_' || v_id), howdah._new_hint('search_of_' || v_id),
        howdah._new_hint('waiting_' || v_id), 9 - n.default_priority, '{}', '{}'
    from (select (p_destination).*) n
    where not exists (select from howdah.destinations d where d.name = p_destination.name and d.dropped_at is null)
    on conflict do nothing;
    if not found then
        raise exception using errcode = 'HD002', message = format('queue %s exists already', quote_literal(p_destination.name)),
            hint = 'Change it with howdah.alter_queue(name, options).';
    end if;
    insert into howdah.destination_grants (destination_id, verb, role_name)
    select v_id, g.verb, g.role_name
    from howdah.engine e
    cross join lateral (values ('send', e.producer_role), ('receive', e.consumer_role), ('browse', e.browser_role),
        ('browse', e.consumer_role), ('browse', e.auditor_role), ('send', e.admin_role), ('receive', e.admin_role), ('browse', e.admin_role),
        ('admin', e.admin_role)) g(verb, role_name)
    on conflict do nothing;
    return v_id;
end
$$;

-- howdah._copy_grants(): keep the copies in howdah.destinations of who may send and receive, which every call reads.
--
-- Returns  trigger.
-- Role     internal
--
-- The administrators' role comes last, for the first one is tried first.
create or replace function howdah._copy_grants() returns trigger
language plpgsql volatile set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    update howdah.destinations d
    set senders = array(select g.role_name from howdah.destination_grants g
                        where g.destination_id = d.id and g.verb = 'send' order by g.role_name = e.admin_role, g.role_name),
        receivers = array(select g.role_name from howdah.destination_grants g
                          where g.destination_id = d.id and g.verb = 'receive' order by g.role_name = e.admin_role, g.role_name)
    from howdah.engine e
    where d.id in (coalesce(new.destination_id, old.destination_id), coalesce(old.destination_id, new.destination_id));
    return null;
end
$$;

create or replace trigger copy_grants after insert or update or delete on howdah.destination_grants
for each row execute function howdah._copy_grants();

-- howdah._new_positions(p_id): make the sequence of a new destination's positions.
--
-- Returns  regclass.
-- Role     internal
create or replace function howdah._new_positions(p_id integer) returns regclass
language plpgsql volatile
as $$
begin
    execute format('create sequence howdah.%I', 'positions_' || p_id);
    return format('howdah.%I', 'positions_' || p_id)::regclass;
end
$$;
