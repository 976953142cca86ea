-- howdah._move_cursor(p_cursor, p_xid, p_seq, p_delivered, p_snapshot): make the next step of a cursor.
--
-- Raises   40001 somebody else made it; only a transaction with an old snapshot can get this.
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
        raise exception using errcode = '40001', message = 'another transaction moved the cursor',
            hint = 'Retry the transaction.';
    end if;
    return v_next;
end
$$;
