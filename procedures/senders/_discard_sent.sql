-- howdah._discard_sent(p_destination, p_senders): discard the messages of senders that are gone.
--
-- Returns  how many (bigint).
-- Role     internal
--
-- A message that a transaction or a lease has in hand stays on record, and goes later if it comes back.
create or replace function howdah._discard_sent(p_destination howdah.destinations, p_senders bigint[]) returns bigint
language plpgsql volatile
    set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
    set plan_cache_mode = force_custom_plan
as $$
declare
    v_gone bigint[] := '{}';
    v_more bigint[];
begin
    if p_destination.kind = 'topic' then
        -- for N in 0, 1, 2:
        with gone as (
            delete from howdah.topic_nonpersistent_N t where t.ctid = any (array(
                select c.ctid from howdah.sent_by b join howdah.topic_nonpersistent_N c
                    on c.destination_id = b.destination_id and c.xid = b.xid and c.seq = b.message_id / 1000000
                where b.destination_id = p_destination.id and b.sender = any (p_senders)
                for update of c skip locked))
            returning t.seq * 1000000 + p_destination.id as message_id
        )
        select array_agg(g.message_id) into v_more from gone g;
        v_gone := v_gone || v_more;
        -- end for
    else
        with gone as (
            delete from howdah.msgs_nonpersistent n where n.ctid = any (array(
                select c.ctid from howdah.sent_by b join howdah.msgs_nonpersistent c
                    on c.destination_id = b.destination_id and c.rank = b.rank and c.seq = b.message_id / 1000000
                where b.destination_id = p_destination.id and b.sender = any (p_senders)
                  and c.message_id = b.message_id
                for update of c skip locked))
            returning n.message_id
        )
        select array_agg(g.message_id) into v_more from gone g;
        v_gone := v_gone || v_more;
        with gone as (
            delete from howdah.parked p where p.ctid = any (array(
                select c.ctid from howdah.sent_by b join howdah.parked c
                    on c.destination_id = b.destination_id and c.message_id = b.message_id
                where b.destination_id = p_destination.id and b.sender = any (p_senders)
                  and (c.parked_reason <> 'lease' or c.due_at <= howdah.now())
                for update of c skip locked))
            returning p.message_id
        )
        select array_agg(g.message_id) into v_more from gone g;
        v_gone := v_gone || v_more;
    end if;
    perform howdah._journal(p_destination, 'discarded', g.message_ids, true, null, 'SENDER_GONE', g.oldest,
        p_reliability => g.reliability)
    from (select b.reliability, array_agg(b.message_id order by b.message_id) as message_ids, min(b.sent_at) as oldest
          from howdah.sent_by b
          where b.destination_id = p_destination.id and b.sender = any (p_senders) and b.message_id = any (v_gone)
          group by b.reliability) g;
    delete from howdah.sent_by b where b.ctid = any (array(
        select o.ctid from howdah.sent_by o
        where o.destination_id = p_destination.id and o.sender = any (p_senders)
          and not exists (select from howdah.msgs_nonpersistent n where n.destination_id = o.destination_id
              and n.rank = o.rank and n.seq = o.message_id / 1000000 and n.message_id = o.message_id)
          and not exists (select from howdah.parked p where p.destination_id = o.destination_id
              and p.message_id = o.message_id)
          -- for N in 0, 1, 2:
          and not exists (select from howdah.topic_nonpersistent_N t where t.destination_id = o.destination_id
              and t.xid = o.xid and t.seq = o.message_id / 1000000)
          -- end for
        for update skip locked));
    return cardinality(v_gone);
end
$$;
