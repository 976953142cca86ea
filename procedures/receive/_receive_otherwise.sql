-- howdah._receive_otherwise(p_queue, p_max_messages, p_hold, p_selector, p_consumer): the receives of rare kinds, and
-- those that are refused before anybody looks for messages.
--
-- Returns  up to p_max_messages rows of howdah.message.
-- Raises   HD005 p_max_messages is not 1 to 10000; the others of howdah.receive, from what it calls.
-- Role     internal
--
-- howdah.receive calls howdah._receive_by_lane and howdah._receive_stream itself. That saves their messages a copy: the
-- result of a function is copied into its caller's.
create or replace function howdah._receive_otherwise(
    p_queue text, p_max_messages integer, p_hold boolean, p_selector text, p_consumer bigint
) returns setof howdah.message
language plpgsql volatile
as $$
declare
    v_queue record;
begin
    if p_hold is null then
        return query select * from howdah.receive(p_queue, p_max_messages, false, p_selector, p_consumer);
        return;
    elsif current_setting('howdah.commit_by_reliability', true) <> '' then
        return query select * from howdah._receive_noting(p_queue, p_max_messages, p_hold, p_selector, p_consumer);
        return;
    end if;
    select d.id, d.kind, d.receiving_paused, d.receivers, d.limited, d.keep_bodies_ms is not null as keeps,
        pg_sequence_last_value(d.special) is null as plain
    into v_queue
    from howdah.destinations d where d.name = p_queue and d.dropped_at is null;
    if v_queue.kind is null and p_queue ~ '[*>]' and strpos(p_queue, ':') = 0 then
        return query select * from howdah._receive_any(p_queue, p_max_messages, p_hold, p_selector);
        return;
    elsif v_queue.kind is null then
        -- It is an alias, or is created now, or this raises.
        return query
        select * from howdah.receive((howdah._destination_or_new(p_queue, 'receive')).name, p_max_messages, p_hold,
            p_selector, p_consumer);
        return;
    elsif v_queue.kind = 'queue' and howdah._has_role(v_queue.receivers[1]) is not true then
        perform howdah._destination(p_queue, 'receive');
    end if;
    if p_max_messages is null or p_max_messages not between 1 and 10000 then
        raise exception using errcode = 'HD005',
            message = format('max_messages must be 1 to 10000, not %s', coalesce(p_max_messages::text, 'NULL'));
    elsif v_queue.kind <> 'queue' then
        return query
        select * from howdah._receive_stream(p_queue, p_max_messages, p_hold, p_selector, p_consumer, v_queue.plain);
        return;
    end if;
    perform howdah._refuse_paused(v_queue.id) where v_queue.receiving_paused;
    if v_queue.limited then
        return query
        select * from howdah._receive_limited(v_queue.id, p_queue, p_max_messages, p_hold, p_selector, p_consumer);
    elsif v_queue.keeps then
        return query
        select * from howdah._receive_keeping(v_queue.id, p_queue, p_max_messages, p_hold, p_selector, p_consumer);
    else
        return query
        select * from howdah._receive_by_lane(v_queue.id, p_queue, p_max_messages, p_hold, p_selector, p_consumer,
            false);
    end if;
end
$$;
