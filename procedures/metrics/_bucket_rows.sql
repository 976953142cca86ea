-- howdah._bucket_rows(p_metric, p_counts): the buckets of a histogram, each with all that is not longer than its bound.
--
-- Returns  le, as OpenMetrics writes it, and the number.
-- Role     internal
--
-- Handlers are counted by powers of two of a microsecond. Every second power from 64 microseconds on is shown. Numbers
-- are numeric: what workers recorded may add up to more than a bigint holds.
create or replace function howdah._bucket_rows(p_metric text, p_counts numeric[])
returns table (le text, messages numeric)
language sql immutable
as $$
    select case when b.n = cardinality(p_counts) then '+Inf'
            when p_metric = 'wait' then (howdah._wait_bounds())[b.n]::text
            else (power(2, b.n - 1)::numeric / 1000000)::text end,
        b.messages
    from (select u.n::integer as n, sum(u.messages) over (order by u.n) as messages
        from unnest(p_counts) with ordinality u(messages, n)) b
    where p_metric = 'wait' or b.n = cardinality(p_counts) or b.n >= 7 and b.n % 2 = 1
$$;
