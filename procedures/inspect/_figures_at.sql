-- howdah._figures_at(): when the background figures were counted, if they may be shown.
--
-- Returns  timestamptz, within the last two minutes (twelve times the interval of maintain_backlog) and since the
--          server's start; otherwise NULL.
-- Role     internal
create or replace function howdah._figures_at() returns timestamptz
language sql stable
as $$
    select c.counted_at from howdah.backlog_counts c
    where c.counted_at > howdah.now() - interval '2 minutes' and c.counted_at <= howdah.now()
      and c.boot = pg_postmaster_start_time()
$$;
