-- howdah._ticket_key(p_id, p_shift, p_block, p_mask): the advisory lock of a block of tickets.
--
-- Returns  bigint, positive: a mark, the destination's number (0: the whole engine), how many tickets a block has (2 to
--          the power of p_shift), the block; all of it hidden by a secret of the destination, p_mask.
-- Role     internal
create or replace function howdah._ticket_key(
    p_id integer, p_shift integer, p_block bigint, p_mask bigint
) returns bigint
language sql immutable
as $$ select ((1::bigint << 62) | (p_id::bigint << 42) | (p_shift::bigint << 36) | (p_block & 68719476735)) # p_mask $$;
