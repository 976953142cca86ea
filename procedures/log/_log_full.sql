-- howdah._log_full(): the queues that a sender's last count found full, and those that the log says are full.
--
-- Returns  name, messages, the limits; is_full: nine tenths are taken and a count found no room; was_full: the log says
--          so.
-- Role     internal
create or replace function howdah._log_full() returns table (
    name text, messages bigint, message_limit bigint, byte_limit bigint, is_full boolean, was_full boolean
)
language sql volatile
as $$
    select d.name, s.messages, d.message_limit, d.byte_limit,
        coalesce(s.messages * 10 >= d.message_limit * 9 or s.bytes * 10 >= d.byte_limit * 9, false), l.was_full
    from howdah.destinations d
    cross join lateral (
        select coalesce((select e.event = 'LIMIT_REACHED' from howdah.log_events e
            where e.destination = d.name and e.event in ('LIMIT_REACHED', 'LIMIT_LEFT', 'RESOURCE_STATE')
            order by e.event_id desc limit 1), false) as was_full
    ) l
    cross join lateral (
        select coalesce(pg_sequence_last_value(to_regclass('howdah.room_' || d.id)), 0) as last_count
    ) c
    cross join lateral howdah._stored(d.id, d.message_limit, d.byte_limit is not null) s
    where d.dropped_at is null and (d.message_limit is not null or d.byte_limit is not null)
      and (l.was_full or c.last_count >> 61 = 1 or c.last_count >> 20 = 0)
$$;
