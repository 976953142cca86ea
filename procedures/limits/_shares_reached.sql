-- howdah._shares_reached(p_shares, p_messages, p_message_limit, p_bytes, p_byte_limit): how many of the given
-- percentages of a limit are reached.
--
-- Returns  integer; limits may be NULL.
-- Role     internal
create or replace function howdah._shares_reached(
    p_shares integer[], p_messages bigint, p_message_limit bigint, p_bytes bigint, p_byte_limit bigint
)
returns integer
language sql immutable
as $$
    select count(*)::integer from unnest(p_shares) s(share)
    where p_messages * 100 >= s.share * p_message_limit or p_bytes::numeric * 100 >= s.share * p_byte_limit::numeric
$$;
