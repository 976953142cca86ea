-- howdah._close_room(p_room): allow no more tickets until somebody counts.
--
-- Role     internal
create or replace function howdah._close_room(p_room regclass) returns void
language sql volatile
as $$
    select setval(p_room, ((((coalesce(pg_sequence_last_value(p_room), 0) >> 12) + 1) & 255) << 12) | 4095)
$$;
