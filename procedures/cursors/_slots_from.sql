-- howdah._slots_from(p_low): the tables that may hold messages of transactions from p_low on.
--
-- Returns  integer[].
-- Role     internal
--
-- A table that was written to since the ring's row counts in any case: the session that turned the ring may not have
-- committed yet.
create or replace function howdah._slots_from(p_low xid8) returns integer[]
language sql volatile
as $$
    select array_agg(r.slot order by r.slot) from howdah.topic_ring r
    where exists (select from generate_series((select max(o.generation) from howdah.topic_ring o
        where o.state = 'open') + 1,
                               howdah._generation()) g where g % 3 = r.slot)
       or r.state <> 'empty' and (r.closed_xid > p_low) is not false
$$;
