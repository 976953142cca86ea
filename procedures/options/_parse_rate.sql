-- howdah._parse_rate(p_rate): a rate such as "100/1s" or "600/1h burst 20" in numbers.
--
-- Returns  burst: how many may go at once; spacing: microseconds after which one more may go. Both are NULL if the text
--          is no rate.
-- Role     internal
--
-- In any span shorter than the period, at most the amount may go: the burst, and one for each spacing in the span. So
-- the spacing is the period divided by what the burst leaves of the amount, plus one. A burst of one is exact and even,
-- but a consumer that is late loses that time. So where the spacing is short, the burst is 2 % of the amount.
create or replace function howdah._parse_rate(p_rate text, out burst bigint, out spacing bigint) returns record
language sql immutable
as $$
    select b.burst::bigint, ceil(r.period / greatest(r.amount - b.burst + 1, 1))::bigint
    from regexp_match(p_rate,
        '^([1-9][0-9]{0,6})/([1-9][0-9]{0,6})?(ms|s|m|h|d)(?: burst ([1-9][0-9]{0,6}))?$') m(part)
    cross join lateral (select m.part[1]::numeric as amount, m.part[4]::numeric as burst,
        coalesce(m.part[2], '1')::numeric * case m.part[3] when 'ms' then 1000 when 's' then 1000000
            when 'm' then 60000000 when 'h' then 3600000000 else 86400000000 end as period) r
    cross join lateral (select coalesce(r.burst, least(r.amount,
        case when r.period / r.amount >= 40000 then 1 else greatest(2, 1 + div(r.amount, 50)) end)) as burst) b
    where b.burst <= r.amount and r.amount <= r.period and r.period <= 604800000000
$$;
