-- howdah._keep_claimed(p_stream, p_xids, p_seqs, p_hold): look again at messages of a shared subscription that the
-- caller has locked, and record them as done, unless it only holds them.
--
-- Returns  the positions that are not done: the caller has these messages now. NULL if there is none.
-- Role     internal
--
-- Each statement has a snapshot taken after the locks: whoever held one before has committed by then. What it did is
-- still in acked, unless the cursor has passed it. So the cursor is read after acked.
create or replace function howdah._keep_claimed(
    p_stream record, p_xids xid8[], p_seqs bigint[], p_hold boolean
) returns bigint[]
language plpgsql volatile
as $$
declare
    v_ack_id integer := (p_stream.ack_cursor).ack_id;
    v_cursor howdah.ack_cursors;
    v_kept bigint[];
    v_gone bigint[];
begin
    if p_hold then
        v_kept := array(select u.seq from unnest(p_seqs) u(seq)
            where (select true from howdah.acked a where a.ack_id = v_ack_id and a.seq = u.seq limit 1) is null);
    elsif cardinality(p_seqs) = 1 then
        insert into howdah.acked (ack_id, seq, xid)
        select v_ack_id, p_seqs[1], p_xids[1]
        where (select true from howdah.acked a where a.ack_id = v_ack_id and a.seq = p_seqs[1] limit 1) is null;
        v_kept := case when found then p_seqs end;
    else
        with noted as (
            insert into howdah.acked (ack_id, seq, xid)
            select v_ack_id, u.seq, u.xid from unnest(p_xids, p_seqs) u(xid, seq)
            where (select true from howdah.acked a where a.ack_id = v_ack_id and a.seq = u.seq limit 1) is null
            returning seq
        )
        select array_agg(n.seq) into v_kept from noted n;
    end if;
    v_cursor := howdah._cursor(v_ack_id);
    if v_cursor.n <> (p_stream.ack_cursor).n and cardinality(v_kept) > 0 then
        select array_agg(u.seq) into v_gone from unnest(p_xids, p_seqs) u(xid, seq)
        where u.seq = any (v_kept) and howdah._is_passed(v_cursor, u.xid, u.seq);
        if v_gone is not null then
            delete from howdah.acked a where not p_hold and a.ack_id = v_ack_id and a.seq = any (v_gone);
            v_kept := array(select u.seq from unnest(v_kept) u(seq) where u.seq <> all (v_gone));
        end if;
    end if;
    return nullif(v_kept, '{}');
end
$$;
