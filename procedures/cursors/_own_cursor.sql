-- howdah._own_cursor(p_ack_id): where a cursor stands that the caller will move, or record messages for.
--
-- Returns  as howdah._cursor.
-- Raises   40001 somebody moved it since the transaction's snapshot was taken.
-- Role     internal
--
-- The lock on the step fails if old steps were deleted meanwhile, and the next one with them. Otherwise that step could
-- be made twice.
create or replace function howdah._own_cursor(p_ack_id integer) returns howdah.ack_cursors
language plpgsql volatile
as $$
declare
    v_cursor howdah.ack_cursors := howdah._cursor(p_ack_id);
begin
    if howdah._has_old_snapshot() then
        perform from howdah.ack_cursors c where c.ack_id = p_ack_id and c.n = v_cursor.n for key share;
    end if;
    return v_cursor;
end
$$;
