-- howdah._dispose(p_destination_id, p_message, p_nonpersistent, p_place, p_now): end a claimed message that must not be delivered.
--
-- Returns  false, so that a WHERE leaves the message out. p_place: where its row still lies; NULL: it is deleted.
-- Role     internal
--
-- One that is not at its limit, but waits for the delay of its last failure, is parked until then.
create or replace function howdah._dispose(
    p_destination_id integer, p_message howdah.msgs, p_nonpersistent boolean, p_place text, p_now timestamptz
) returns boolean
language plpgsql volatile
as $$
declare
    v_destination howdah.destinations;
    v_weight integer;
begin
    select d.* into v_destination from howdah.destinations d where d.id = p_destination_id;
    if p_place is not null then
        perform howdah._remove(p_message, p_place);
    end if;
    if p_message.expires_at <= p_now then
        perform howdah._expire(v_destination, p_message, p_nonpersistent);
    else
        v_weight := (select s.weight from howdah._standing(p_destination_id, p_message.message_id, p_message.stage, p_message.conversation_id,
            howdah._group(p_message.headers, p_message.conversation_id), null) s);
        if not howdah._park_waiting(v_destination, p_message, p_nonpersistent, v_weight, p_now) then
            perform howdah._bury(v_destination, p_message, p_nonpersistent, howdah._why(v_weight));
        end if;
    end if;
    perform set_config('howdah.disposed', 'yes', true);
    return false;
end
$$;

-- howdah._park_waiting(p_destination, p_message, p_nonpersistent, p_weight, p_now): park a message that its last failure's delay still holds back.
--
-- Returns  boolean; false: it is at its limit, or has no such delay, and nothing was done.
-- Role     internal
--
-- The caller has deleted the row. What settles the failure later finds it parked, and leaves it so.
create or replace function howdah._park_waiting(
    p_destination howdah.destinations, p_message howdah.msgs, p_nonpersistent boolean, p_weight integer, p_now timestamptz
) returns boolean
language plpgsql volatile
as $$
declare
    v_due_at timestamptz;
begin
    if p_weight >= p_destination.dispose_at then
        return false;
    end if;
    v_due_at := howdah._waits_until(p_destination.id, p_message.message_id, p_message.stage);
    if (v_due_at > p_now) is not true then
        return false;
    end if;
    perform howdah._park(p_message, p_nonpersistent, v_due_at, 'redelivery');
    return true;
end
$$;

-- howdah._deliver(p_destination_id, p_message, p_now, p_limit, p_journaled): give out a message just taken, or end it.
--
-- Returns  the message (howdah.message), unless it has expired or reached its limit.
-- Role     internal
create or replace function howdah._deliver(
    p_destination_id integer, p_message howdah.msgs, p_now timestamptz, p_limit integer, p_journaled boolean
) returns setof howdah.message
language plpgsql volatile
as $$
declare
    v_failures integer;
    v_weight integer;
begin
    select coalesce(max(f.failures), 0), coalesce(max(f.weight), 0) into v_failures, v_weight
    from howdah._count_failures(p_destination_id, array[p_message.message_id], array[p_message.stage], array[p_message.conversation_id],
        array[howdah._group(p_message.headers, p_message.conversation_id)]) f
    where f.stage = p_message.stage;
    if p_message.expires_at <= p_now or v_weight >= p_limit then
        perform howdah._dispose(p_destination_id, p_message, false, null, p_now);
        return;
    end if;
    if p_journaled then
        insert into howdah.journal (at, destination_id, event, message_ids, oldest_sent_at)
        values (p_now, p_destination_id, 'consumed', array[p_message.message_id], p_message.sent_at);
    end if;
    if p_message.body is null then
        p_message.body := howdah._take_body(p_message.message_id);
    end if;
    return query select (howdah._message(p_message, howdah._name(p_destination_id), false, v_failures)).*;
end
$$;

-- howdah._name(p_id): the name of a destination.
--
-- Returns  text.
-- Role     internal
create or replace function howdah._name(p_id integer) returns text
language sql stable
as $$ select d.name from howdah.destinations d where d.id = p_id $$;
