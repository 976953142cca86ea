-- howdah._hold_tickets(p_id, p_shift, p_first, p_last): take the locks of tickets, shared and until the transaction
-- ends.
--
-- Role     internal
create or replace function howdah._hold_tickets(
    p_id integer, p_shift integer, p_first bigint, p_last bigint
) returns void
language plpgsql volatile
as $$
declare
    v_mask constant bigint := howdah._ticket_mask(p_id);
begin
    perform pg_advisory_xact_lock_shared(howdah._ticket_key(p_id, p_shift, b.block, v_mask))
    from generate_series(p_first >> p_shift, p_last >> p_shift) b(block);
end
$$;
