-- howdah._note_acked(p_queue, p_lease, p_message_ids): note that the transaction consumes these messages of a lease.
--
-- Role     internal
--
-- p_message_ids NULL: all of the lease. A subscription's messages count as assured: their levels stand in the topic.
create or replace function howdah._note_acked(p_queue text, p_lease bigint, p_message_ids bigint[]) returns void
language plpgsql volatile set enable_seqscan = off set jit = off
as $$
declare
    v_queue record;
begin
    select d.id, d.kind into v_queue from howdah.destinations d where d.name = p_queue and d.dropped_at is null;
    perform howdah._commit_needs(case when v_queue.kind = 'queue' then (
        select max(h.level) from (
            select howdah._level_of(m.reliability, false) as level
            from howdah._in_lease(v_queue.id, p_lease, p_message_ids) m
            union all
            select howdah._level_of(p.reliability, p.boot is not null) from howdah.parked p
            where p.ctid = any ((
                    select case when p_message_ids is null then howdah._lease_rows(v_queue.id, p_lease)
                        else howdah._parked_rows(v_queue.id, p_message_ids) end)::tid[])
              and p.lease_id = p_lease
        ) h) else 4 end);
end
$$;
