-- howdah._advance_cursor(p_subscription, p_ack): move a cursor over what is done, up to the first message that is not,
-- or that is leased.
--
-- Role     internal
--
-- A leased message stops it even after it has expired: its holder may still acknowledge it. So does a message that was
-- leased or acknowledged while the page was read. The cursor passes only what was done before that.
--
-- It works page by page, at most 10,000 messages at a time. The first pages are small, because the cursor usually moves
-- a few steps. If another session is moving it, the call does nothing.
create or replace function howdah._advance_cursor(p_subscription howdah.subscriptions, p_ack howdah.acks) returns void
language plpgsql volatile
as $$
declare
    v_cursor howdah.ack_cursors;
    v_upto pg_snapshot;
    v_segment record;
    v_page record;
    v_size integer;
    v_read integer := 0;
    v_xid xid8;
    v_seq bigint;
    v_done bigint[];
    v_ring bigint := howdah._truncations();
begin
    if not pg_try_advisory_xact_lock(howdah._lock_key('cursor', p_ack.id::text)) then
        return;
    end if;
    v_cursor := howdah._cursor(p_ack.id);
    v_upto := howdah._snapshot();
    for v_segment in select * from howdah._segments(v_cursor, p_ack.destination_id, v_upto) loop
        v_size := 128;
        v_xid := null;
        v_done := '{}';
        loop
            with page as materialized (
                select t.xid, t.seq, t.wanted or t.done as met
                from howdah._page(p_subscription, p_ack, v_segment.slots, coalesce(v_xid, v_segment.from_xid),
                    coalesce(v_seq, v_segment.from_seq), v_segment.to_xid, v_upto, v_size) t
            ), done as materialized (
                select a.seq from howdah.acked a
                where a.ack_id = p_ack.id and a.lease_id is null
                  and a.seq between (select min(t.seq) from page t) and (select max(t.seq) from page t)
            )
            select bool_or(p.open) as open, count(*) as total,
                array_agg(p.seq) filter (where p.done and not p.open) as done,
                (array_agg(p.xid order by p.xid desc, p.seq desc) filter (where not p.open))[1] as xid,
                (array_agg(p.seq order by p.xid desc, p.seq desc) filter (where not p.open))[1] as seq
            into v_page
            from (
                select m.xid, m.seq, m.done, bool_or(m.met and not m.done) over (order by m.xid, m.seq) as open
                from (select t.xid, t.seq, t.met, t.seq in (select d.seq from done d) as done from page t) m
            ) p;
            if v_page.xid is not null then
                v_xid := v_page.xid;
                v_seq := v_page.seq;
                v_done := v_done || v_page.done;
            end if;
            v_read := v_read + v_page.total;
            exit when v_page.open or v_page.total < v_size or v_read >= 10000;
            v_size := least(v_size * 4, 10000 - v_read);
        end loop;
        if v_xid is not null then
            v_cursor := howdah._move_cursor(v_cursor, v_xid, v_seq, cardinality(v_done),
                howdah._cursor_after(v_cursor, v_upto, v_xid));
            delete from howdah.acked a where a.ack_id = p_ack.id and a.seq = any (v_done);
        end if;
        v_seq := null;
        exit when v_page.open or v_read >= 10000;
        if v_segment.to_xid = pg_snapshot_xmax(v_upto) and v_xid is not null then
            v_cursor := howdah._move_cursor(v_cursor, '3', -1, 0, v_upto);
        end if;
    end loop;
    perform howdah._same_ring(v_ring);
end
$$;
