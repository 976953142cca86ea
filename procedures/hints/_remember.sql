-- howdah._remember(p_search, p_back, p_begun, p_found): record how far a search came, and when its next step is due.
--
-- Returns  what is recorded (bigint).
-- Role     internal
--
-- p_begun: when the step began, as howdah._pace. After a step that found something, the next is due at once. Otherwise
-- it is due after 5 ms, or later, so that steps take a twentieth of the time. Whole milliseconds are right on average,
-- and cheap. PostgreSQL inlines the function.
create or replace function howdah._remember(
    p_search regclass, p_back bigint, p_begun bigint, p_found boolean
) returns bigint
language sql volatile
as $$
    select setval(p_search, (p_back << 20) | ((howdah._pace(clock_timestamp()) + case when p_found then 0
        else least(greatest(20 * (howdah._pace(clock_timestamp()) - p_begun), 5), 2000) end) & 1048575))
$$;
