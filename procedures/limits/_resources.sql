-- howdah._resources(): count what is stored in the engine, and find which thresholds it reaches.
--
-- Returns  messages, bytes, and level from 0 (green) to 3 (red).
-- Role     internal
create or replace function howdah._resources() returns table (messages bigint, bytes bigint, level integer)
language sql volatile
as $$
    select s.messages, s.bytes,
        howdah._shares_reached(array[e.yellow_threshold, e.orange_threshold, e.red_threshold], s.messages, e.max_count,
            s.bytes, e.max_bytes)
    from howdah.engine e cross join lateral howdah._stored(0, null, true) s
$$;
