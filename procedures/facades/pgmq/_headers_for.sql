-- pgmq._headers_for(p_destination, p_headers, p_count): the headers of many messages as a queue stores them.
--
-- Returns  jsonb[]: as pgmq._stored_headers, with the sender's role if the queue has stamp_user.
-- Role     internal
create or replace function pgmq._headers_for(p_destination howdah.destinations, p_headers jsonb[], p_count integer)
returns jsonb[]
language sql stable
as $$
    select case when p_destination.stamp_user
        then howdah._stamped_all(pgmq._stored_headers(p_headers), p_count, howdah._caller())
        else pgmq._stored_headers(p_headers) end
$$;
