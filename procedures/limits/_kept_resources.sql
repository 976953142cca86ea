-- howdah._kept_resources(): the messages that maintain_backlog counted last, and which thresholds they reach.
--
-- Returns  messages (NULL: nobody has counted), and level from 0 (green) to 3 (red), by their number alone.
-- Role     internal
create or replace function howdah._kept_resources() returns table (messages bigint, level integer)
language sql stable
as $$
    select k.messages, howdah._shares_reached(array[e.yellow_threshold, e.orange_threshold, e.red_threshold],
        k.messages, e.max_count, null, null)
    from howdah.engine e cross join lateral (
        select (select coalesce(sum(f.live + f.parked), 0)::bigint from howdah.backlog_figures f) as messages
        where exists (select from howdah.backlog_counts)
        union all
        select null where not exists (select from howdah.backlog_counts)
    ) k
$$;
