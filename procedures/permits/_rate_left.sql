-- howdah._rate_left(p_rate, p_cell, p_since, p_now): how much of a rate is left.
--
-- Returns  spent: up to when it is spent, in microseconds. room: how many messages may go now. ahead: more is spent
--          than the burst, because the clock was set back or the rate was changed. A NULL cell has no room.
-- Role     internal
--
-- p_since: before that the cells are not known, because a crash of the server reset them. So the whole burst counts as
-- spent then.
create or replace function howdah._rate_left(
    p_rate text, p_cell howdah.rate_cells, p_since bigint, p_now bigint, out spent bigint, out room bigint,
    out ahead boolean
) returns record
language sql volatile
as $$
    select least(s.spent, p_now + r.burst * r.spacing),
        case when p_cell.spent is null then 0 else greatest((p_now + r.burst * r.spacing - s.spent) / r.spacing, 0) end,
        p_cell.spent is not null and s.spent > p_now + r.burst * r.spacing
    from howdah._parse_rate(p_rate) r
    cross join lateral (select greatest(pg_sequence_last_value(p_cell.spent), p_now,
        p_since + r.burst * r.spacing) as spent) s
$$;
