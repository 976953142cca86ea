-- howdah._first_for_consumer(p_headers, p_first): a message's headers, marked if it begins a group new to its consumer.
--
-- Returns  jsonb.
-- Role     internal
create or replace function howdah._first_for_consumer(p_headers jsonb, p_first boolean) returns jsonb
language sql immutable
as $$ select case when p_first then coalesce(p_headers, '{}') || '{"JMSXGroupFirstForConsumer": true}'
    else p_headers end $$;
