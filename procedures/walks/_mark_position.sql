-- howdah._mark_position(p_mark, p_positions): the position that a queue's mark holds modulo 2^31 (howdah._set_mark).
--
-- Returns  bigint. The caller has read p_mark before, so its position is no later than the last one drawn.
-- Role     internal
create or replace function howdah._mark_position(p_mark bigint, p_positions regclass) returns bigint
language sql volatile
as $$
    select greatest(t.tail - ((t.tail - (p_mark >> 32)) & 2147483647), 0)
    from (select howdah._hint(p_positions) as tail) t
$$;
