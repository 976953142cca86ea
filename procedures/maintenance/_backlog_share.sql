-- howdah._backlog_share(p_topic, p_behind, p_oldest): the share of the backlog allowed by a topic that a subscription
-- has used.
--
-- Returns  double precision; 1 means all of it; 0 if nothing is bounded.
-- Role     internal
create or replace function howdah._backlog_share(
    p_topic howdah.topics, p_behind bigint, p_oldest timestamptz
) returns double precision
language sql volatile
as $$
    select greatest(coalesce(p_behind / p_topic.backlog_limit::double precision, 0),
        coalesce(extract(epoch from howdah.now() - p_oldest) * 1000 / p_topic.backlog_age_ms, 0))
$$;
