-- howdah._rate_cell(p_queue, p_key, p_now): the cell that remembers the rate of a key, or the one that it may
-- take over.
--
-- Returns  howdah.rate_cells; NULLs if all cells where it may lie are in use.
-- Role     internal
--
-- A key's fingerprint says in which eight cells it may lie. A cell whose rate is no longer spent says no more than an
-- empty one, so any other key may take it over. A cell that is spent beyond the burst is from before the clock was set
-- back; howdah._draw_rate corrects it for whoever finds it. Two keys with one fingerprint of 63 bits would share a
-- rate.
create or replace function howdah._rate_cell(p_queue howdah.destinations, p_key text, p_now bigint)
returns howdah.rate_cells
language sql volatile
as $$
    select c
    from howdah.rate_cells c cross join lateral howdah._parse_rate(p_queue.rate_limit_per_key) r
    where c.destination_id = p_queue.id
      and c.number = any (array(
          select (1 + (howdah._fingerprint_of_key(p_key) % p_queue.rate_keys + i) % p_queue.rate_keys)::integer
          from generate_series(0, 7) i))
      and (pg_sequence_last_value(c.mark) = howdah._fingerprint_of_key(p_key)
           or coalesce(pg_sequence_last_value(c.spent), 0) <= p_now
           or pg_sequence_last_value(c.spent) > p_now + r.burst * r.spacing)
    order by pg_sequence_last_value(c.mark) = howdah._fingerprint_of_key(p_key) desc nulls last,
        coalesce(pg_sequence_last_value(c.spent), 0) > p_now, c.number
    limit 1
$$;
