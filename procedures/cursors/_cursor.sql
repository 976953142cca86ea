-- howdah._cursor(p_ack_id): where a cursor stands.
--
-- Returns  the highest step of howdah.ack_cursors.
-- Role     internal
--
-- From the end of the index, so that deleted steps are never met.
create or replace function howdah._cursor(p_ack_id integer) returns howdah.ack_cursors
language sql volatile
as $$ select c from howdah.ack_cursors c where c.ack_id = p_ack_id order by c.n desc limit 1 $$;

-- howdah._own_cursor(p_ack_id): where a cursor stands that the caller is going to move, or to note messages for.
--
-- Returns  as howdah._cursor.
-- Raises   40001 somebody moved it since the transaction's snapshot was taken.
-- Role     internal
--
-- The lock on the step fails if old steps were deleted meanwhile, among them the next one: else it could be made twice.
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

-- howdah._move_cursor(p_cursor, p_xid, p_seq, p_delivered, p_snapshot): make the next step of a cursor.
--
-- Raises   40001 somebody else made it: only a transaction with an old snapshot can meet this.
-- Role     internal
create or replace function howdah._move_cursor(
    p_cursor howdah.ack_cursors, p_xid xid8, p_seq bigint, p_delivered bigint, p_snapshot pg_snapshot
) returns howdah.ack_cursors
language plpgsql volatile
as $$
declare
    v_next howdah.ack_cursors;
begin
    insert into howdah.ack_cursors (ack_id, n, xid, seq, delivered, at, snapshot)
    values (p_cursor.ack_id, p_cursor.n + 1, p_xid, p_seq, p_cursor.delivered + p_delivered, howdah.now(), p_snapshot)
    on conflict do nothing
    returning * into v_next;
    if not found then
        raise exception using errcode = '40001', message = 'another transaction moved the cursor', hint = 'Retry the transaction.';
    end if;
    return v_next;
end
$$;
