-- pgmq._overdue_rows(p_destination_id, p_now): where the messages lie whose read has run out, found along the index of
-- what is due.
--
-- Returns  tid[].
-- Role     internal
--
-- They come in an order that only this index has, as in howdah._parked_rows.
create or replace function pgmq._overdue_rows(p_destination_id integer, p_now timestamptz) returns tid[]
language plpgsql stable
    set enable_seqscan = off set enable_sort = off set enable_bitmapscan = off set jit = off
as $$
begin
    return array(
        select o.ctid from generate_series(0, 9) r(rank) cross join lateral (
            select p.ctid from howdah.parked p
            where p.destination_id = p_destination_id and p.rank = r.rank and p.due_at <= p_now
              and p.parked_reason = 'lease' and p.lease_id is null and p.reads > 0
            order by p.due_at, p.seq offset 0) o);
end
$$;
