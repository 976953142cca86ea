-- pgmq._group_members(p_destination_id, p_now): the messages of a queue with their groups.
--
-- Returns  of each its id, position and group, and whether it is visible.
-- Role     internal
create or replace function pgmq._group_members(p_destination_id integer, p_now timestamptz)
returns table (message_id bigint, seq bigint, key text, visible boolean)
language sql volatile
as $$
    select s.message_id, s.seq, coalesce(s.headers ->> 'x-pgmq-group', '_default_fifo_group'), s.visible
    from (
        select m.message_id, m.seq, m.headers, true as visible from howdah.msgs m
        where m.destination_id = p_destination_id and (m.expires_at > p_now) is not false
        union all
        select p.message_id, p.seq, p.headers, p.due_at <= p_now from howdah.parked p
        where p.destination_id = p_destination_id and (p.expires_at > p_now) is not false
        union all
        select l.message_id, l.message_id / 1000000, l.headers, false from howdah.leased l
        where l.destination_id = p_destination_id
    ) s
$$;
