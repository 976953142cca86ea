-- howdah._keep_claimed(p_stream, p_xids, p_seqs, p_hold): look again at messages of a shared subscription that the
-- caller has locked, and record them as done, unless it only holds them.
--
-- Returns  the positions that are not done: the caller has these messages now. NULL if there is none.
-- Role     internal
--
-- It is a statement of its own, with a snapshot taken after the locks: whoever held one before has committed by then.
-- What it did is still in acked, unless the cursor has passed it.
create or replace function howdah._keep_claimed(
    p_stream record, p_xids xid8[], p_seqs bigint[], p_hold boolean
) returns bigint[]
language plpgsql volatile
as $$
declare
    v_ack_id integer := (p_stream.ack_cursor).ack_id;
    v_n bigint := (p_stream.ack_cursor).n;
    v_kept bigint[];
begin
    with cursor as materialized (
        select c.n, c.snapshot, c.xid, c.seq from howdah.ack_cursors c where c.ack_id = v_ack_id order by c.n desc limit 1
    ), kept as materialized (
        select u.xid, u.seq from cursor c cross join unnest(p_xids, p_seqs) u(xid, seq)
        where (select true from howdah.acked a where a.ack_id = v_ack_id and a.seq = u.seq limit 1) is null
          and (c.n = v_n or not (pg_visible_in_snapshot(u.xid, c.snapshot) or u.xid = c.xid and u.seq <= c.seq))
    ), noted as (
        insert into howdah.acked (ack_id, seq, xid) select v_ack_id, k.seq, k.xid from kept k where not p_hold
    )
    select array_agg(k.seq) into v_kept from kept k;
    return v_kept;
end
$$;
