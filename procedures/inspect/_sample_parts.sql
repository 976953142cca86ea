-- howdah._sample_parts(p_first, p_last, p_parts): divide a range of numbers into equal parts, with ever smaller ones at
-- both ends.
--
-- Returns  number (from 1 on), first and last of each part.
-- Role     internal
--
-- At the end, new messages lie beside old ones, most of which are gone. At the front, receivers have begun to thin the
-- messages out.
create or replace function howdah._sample_parts(
    p_first bigint, p_last bigint, p_parts bigint
) returns table (n bigint, first bigint, last bigint)
language sql immutable
as $$
    select row_number() over (order by b.first), b.first, lead(b.first, 1, p_last + 1) over (order by b.first) - 1
    from (
        select p_first + s.length / p_parts * g.n as first
        from (select p_last - p_first + 1 as length) s cross join generate_series(0, p_parts - 1) g(n)
        union
        select e.first
        from (select p_last - p_first + 1 as length) s cross join generate_series(1, p_parts / 2) g(n)
        cross join lateral (select (s.length / p_parts) >> g.n::integer as length) t
        cross join lateral (values (p_first + t.length), (p_last + 1 - t.length)) e(first)
        where t.length > 0
    ) b
$$;
