-- howdah._lets_in(p_id, p_room, p_tickets, p_messages, p_bytes, p_senders, p_waiting, p_notify): whether the caller may
-- send to a queue, and there is room; wake whoever waits.
--
-- Returns  boolean.
-- Raises   HD010 as howdah._refuse_maintenance.
-- Role     internal
--
-- PostgreSQL inlines the function, because it is one volatile expression.
create or replace function howdah._lets_in(
    p_id integer, p_room regclass, p_tickets regclass, p_messages bigint, p_bytes bigint, p_senders text[],
    p_waiting regclass, p_notify boolean
) returns boolean
language sql volatile
as $$
    select (howdah._has_role(p_senders[1]) or howdah._has_right(p_id, 'send', p_senders))
        and (p_room is null and (pg_sequence_last_value(p_waiting) is null or p_notify is not true)
            or howdah._reserve_and_wake(p_id, p_room, p_tickets, p_messages, p_bytes, p_waiting, p_notify))
$$;
