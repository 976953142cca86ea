-- howdah._stamped_all(p_headers, p_count, p_user): howdah._stamped for many messages.
--
-- Returns  jsonb[].
-- Role     internal
create or replace function howdah._stamped_all(p_headers jsonb[], p_count integer, p_user text) returns jsonb[]
language sql stable
as $$
    select case when coalesce(cardinality(p_headers), p_count) = p_count
        then array(select howdah._stamped(p_headers[n], p_user) from generate_series(1, p_count) n
            order by n) else p_headers end
$$;
