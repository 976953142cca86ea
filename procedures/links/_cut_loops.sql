-- howdah._cut_loops(p_selector, p_engine_id): a selector for the messages that have not passed an engine.
--
-- Returns  text.
-- Role     internal
create or replace function howdah._cut_loops(p_selector text, p_engine_id uuid) returns text
language sql immutable
as $$
    select concat('(' || p_selector || ') AND ')
        || format('(JMS_Howdah_Route IS NULL OR JMS_Howdah_Route NOT LIKE ''%%%s%%'')', p_engine_id)
$$;
