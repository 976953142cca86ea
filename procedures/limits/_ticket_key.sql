-- howdah._ticket_key(p_id, p_shift, p_block, p_mask): the advisory lock key of a block of tickets.
--
-- Returns  bigint, positive: a mark; the destination's number (0: the whole engine); the power of 2 of the tickets in a
--          block; and the block. p_mask, a secret of the destination, hides all of it.
-- Role     internal
create or replace function howdah._ticket_key(
    p_id integer, p_shift integer, p_block bigint, p_mask bigint
) returns bigint
language sql immutable
as $$ select ((1::bigint << 62) | (p_id::bigint << 42) | (p_shift::bigint << 36) | (p_block & 68719476735)) # p_mask $$;
