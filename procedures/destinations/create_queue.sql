-- howdah.create_queue(queue, options): create a queue.
--
-- Returns  the queue's number (integer).
-- Raises   HD002 it exists already; HD003 bad name; HD004 unknown or wrong option; HD010 not allowed; HD027 the engine is full.
-- Role     howdah_admin
--
-- options is a JSON object; howdah.queue_options shows every option with its value, and docs/poison.md says what those of the
-- poison policy mean. {"preset": "activemq"} sets all of a policy; options beside it win. What is not given comes from the most specific
-- policy by wildcard (howdah.set_policy), else from the preset howdah.
create or replace function howdah.create_queue(queue text, options jsonb default '{}') returns integer
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_destination howdah.destinations;
begin
    perform howdah._check_name(queue);
    perform howdah._check_creation();
    v_destination := howdah._with_options(howdah._with_options(howdah._new_destination(queue), howdah._policy_for(queue)), options);
    v_destination.journal_level_at := v_destination.created_at;
    perform howdah._ensure_targets(v_destination);
    if queue ~ '^Consumer[.][^.]+[.]VirtualTopic[.]' then
        perform howdah._lock_names();
    end if;
    v_destination.id := howdah._add_destination(v_destination);
    if queue ~ '^Consumer[.][^.]+[.]VirtualTopic[.]' then
        perform howdah._join_virtual_topic(v_destination.id, queue);
    end if;
    return v_destination.id;
end
$$;

-- howdah._join_virtual_topic(p_queue_id, p_queue): let a queue named Consumer.NAME.VirtualTopic.X get the messages of the topic VirtualTopic.X.
--
-- Role     internal
create or replace function howdah._join_virtual_topic(p_queue_id integer, p_queue text) returns void
language sql volatile
as $$
    insert into howdah.bridges (topic_id, queue_id)
    select d.id, p_queue_id from howdah.destinations d
    where d.kind = 'topic' and d.dropped_at is null and d.name = substr(p_queue, strpos(p_queue, '.VirtualTopic.') + 1);
    select howdah._note_readers(b.topic_id) from howdah.bridges b where b.queue_id = p_queue_id
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
        'sending_paused', false, 'receiving_paused', false, 'preset', 'howdah', 'dispose_at', 5, 'streak_from', 0, 'journal_level_at', howdah.now())
        || jsonb '{"max_message_bytes": 73400320, "own_max_message_bytes": 73400320, "default_priority": 4, "default_time_to_live_ms": null, "journal_level": "exits",
            "message_limit": null, "byte_limit": null, "persistent": true, "limit_behaviour": "reject", "send_timeout_ms": 30000,
            "deduplication_window_ms": 300000, "stamp_user": false, "message_groups": "none", "delivery_policy": "shared"}' || howdah._preset('howdah'))
$$;

-- howdah._add_destination(p_destination): store a new destination and grant its use to Howdah's roles.
--
-- Returns  its number (integer).
-- Raises   HD002 a destination of that name exists, or all numbers are taken.
-- Role     internal
create or replace function howdah._add_destination(p_destination howdah.destinations) returns integer
language plpgsql volatile
as $$
declare
    v_id integer := howdah._new_number();
begin
    perform howdah._hold_limits();
    p_destination.own_persistent := p_destination.persistent;
    p_destination.persistent := p_destination.persistent and (select e.persistent from howdah.engine e);
    insert into howdah.destinations overriding system value
    select n.*
    from (select where not exists (select from howdah.destinations d where d.name = p_destination.name and d.dropped_at is null)) new
    cross join lateral jsonb_populate_record(p_destination, jsonb_build_object('id', v_id, 'positions', howdah._new_positions(v_id),
        'failing', 'howdah.failing_' || v_id % 16, 'special', 'howdah.special_' || v_id % 16, 'head', howdah._new_hint('head_of_' || v_id),
        'search', howdah._new_hint('search_of_' || v_id), 'waiting', howdah._new_hint('waiting_' || v_id),
        'main_rank', case when p_destination.persistent then 9 - p_destination.default_priority else -1 end, 'senders', array[]::text[], 'receivers', array[]::text[])) n
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
    perform howdah._note_special(d) from howdah.destinations d where d.id = v_id;
    perform howdah._set_room(v_id);
    return v_id;
end
$$;

-- howdah._new_number(): a number that no destination has or had.
--
-- Returns  integer, 1 to 999999.
-- Raises   HD002 all numbers are taken.
-- Role     internal
--
-- A number drawn by a transaction that rolled back was never anybody's: once the sequence has reached its end, such numbers are searched for.
-- The advisory lock passes by those that open transactions have drawn. The catalog shows at once what another has just committed.
create or replace function howdah._new_number() returns integer
language plpgsql volatile
as $$
declare
    v_sequence constant regclass := pg_get_serial_sequence('howdah.destinations', 'id');
    v_id integer;
begin
    if coalesce(pg_sequence_last_value(v_sequence), 0) < 999999 then
        v_id := nextval(v_sequence);
        if v_id <= 999999 and pg_try_advisory_xact_lock(howdah._lock_key('number', v_id::text)) then
            return v_id;
        end if;
    end if;
    for v_id in
        select d.id + 1 from (select 0 as id union all select t.id from howdah.destinations t) d
        where d.id < 999999 and not exists (select from howdah.destinations n where n.id = d.id + 1)
        order by d.id
    loop
        while v_id <= 999999 and not exists (select from howdah.destinations d where d.id = v_id) loop
            if pg_try_advisory_xact_lock(howdah._lock_key('number', v_id::text)) and to_regclass('howdah.positions_' || v_id) is null
               and not exists (select from howdah.destinations d where d.id = v_id) then
                return v_id;
            end if;
            v_id := v_id + 1;
        end loop;
    end loop;
    raise exception using errcode = 'HD002', message = 'a database has room for 999,999 queues over its life',
        hint = 'The number of a queue is part of its messages'' numbers.';
end
$$;

-- howdah._ensure_targets(p_destination): create the queues that a policy's fixed names need, where they are missing.
--
-- Role     internal
--
-- SYSTEM.DEAD.LETTER.QUEUE, ActiveMQ.DLQ or the individual dead-letter queue, _SYSTEM.Advisory: not made by the first poison message, whose
-- receiver could then not be prepared and would wait for others'.
create or replace function howdah._ensure_targets(p_destination howdah.destinations) returns void
language plpgsql volatile
as $$
declare
    v_name text;
    v_target howdah.destinations;
begin
    for v_name in
        select n.name
        from (values
            ('SYSTEM.DEAD.LETTER.QUEUE', p_destination.exception_mode = 'dead_letter' or p_destination.exception_fallback = 'dead_letter'),
            ('ActiveMQ.DLQ', p_destination.exception_mode = 'shared'),
            (p_destination.exception_prefix || p_destination.name, p_destination.exception_mode = 'individual'),
            ('_SYSTEM.Advisory', p_destination.notify_admin or p_destination.disable_after > 0)
        ) n(name, needed)
        where n.needed and n.name <> p_destination.name
          and not exists (select from howdah.destinations d where d.name = n.name and d.dropped_at is null)
    loop
        v_target := howdah._new_destination(v_name);
        v_target.is_system := v_name in ('SYSTEM.DEAD.LETTER.QUEUE', '_SYSTEM.Advisory');
        -- Those are everybody's, whoever happens to need one first.
        v_target.persistent := p_destination.persistent or v_target.is_system;
        -- What the engine itself puts there is on record like any send, else an audit could not tell it from a forgery.
        v_target.journal_level := case when v_target.is_system then 'full' else v_target.journal_level end;
        if v_name = '_SYSTEM.Advisory' then
            v_target.default_time_to_live_ms := 7 * 86400000;
        else
            v_target.exception_mode := 'none';
            v_target.dispose_at := 1000000;
        end if;
        perform howdah._add_destination(v_target);
    end loop;
end
$$;

-- howdah._copy_grants(): keep the copies in howdah.destinations of who may send and receive, which every call reads.
--
-- Returns  trigger.
-- Role     internal
create or replace function howdah._copy_grants() returns trigger
language plpgsql volatile set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    perform howdah._copy_grants_of(new.destination_id) where new.destination_id is not null;
    perform howdah._copy_grants_of(old.destination_id) where old.destination_id is distinct from new.destination_id;
    return null;
end
$$;

-- howdah._copy_grants_of(p_destination_id): the same for one destination.
--
-- Role     internal
--
-- The administrators' role comes last, for the first one is tried first. Receives from what is no queue take another way, so nobody
-- stands there; nor of a temporary queue, whose receivers howdah._destination looks at; nor do senders where each message is stamped, which the
-- quick way of a send does not do.
create or replace function howdah._copy_grants_of(p_destination_id integer) returns void
language sql volatile
as $$
    update howdah.destinations d
    set senders = array(select g.role_name from howdah.destination_grants g
                        where g.destination_id = d.id and g.verb = 'send' and not d.stamp_user order by g.role_name = e.admin_role, g.role_name),
        receivers = array(select g.role_name from howdah.destination_grants g
                          where g.destination_id = d.id and g.verb = 'receive' and d.kind = 'queue' and not d.name ^@ '_TEMP.'
                          order by g.role_name = e.admin_role, g.role_name)
    from howdah.engine e
    where d.id = p_destination_id
$$;

create or replace trigger copy_grants after insert or update or delete on howdah.destination_grants
for each row execute function howdah._copy_grants();

-- howdah._new_positions(p_id): make the sequence of a new destination's positions.
--
-- Returns  regclass.
-- Role     internal
create or replace function howdah._new_positions(p_id integer) returns regclass
language plpgsql volatile set default_tablespace = ''
as $$
begin
    execute format('create sequence howdah.%I', 'positions_' || p_id);
    return format('howdah.%I', 'positions_' || p_id)::regclass;
end
$$;
