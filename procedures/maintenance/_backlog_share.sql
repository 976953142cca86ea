-- howdah._backlog_share(p_topic, p_behind, p_oldest): how much of the backlog that a topic allows a subscription has
-- used.
--
-- Returns  double precision; 1: all of it. 0 where nothing is bounded.
-- Role     internal
create or replace function howdah._backlog_share(
    p_topic howdah.topics, p_behind bigint, p_oldest timestamptz
) returns double precision
language sql volatile
as $$
    select greatest(coalesce(p_behind / p_topic.backlog_limit::double precision, 0),
        coalesce(extract(epoch from howdah.now() - p_oldest) * 1000 / p_topic.backlog_age_ms, 0))
$$;
