-- howdah._link_repeated(p_arrival_id, p_attempt, p_messages): find the messages of a batch that arrived before, and
-- note on their receipts that this attempt brought them, too.
--
-- Returns  message_id, sent_at and local_id of each.
-- Role     internal
--
-- The sender may have committed an earlier attempt though a later one came here, because a forwarder hung and woke up.
-- So a receipt names all attempts. A message that this attempt does not bring keeps its receipt as it is. It still lies
-- in the sending engine, and comes again.
create or replace function howdah._link_repeated(p_arrival_id integer, p_attempt uuid, p_messages json)
returns table (message_id bigint, sent_at timestamptz, local_id bigint)
language plpgsql volatile
as $$
declare
    v_old record;
begin
    for v_old in select r.* from howdah.link_receipts r where r.arrival_id = p_arrival_id loop
        return query
        select m.message_id, m.sent_at, o.local_id
        from howdah._link_messages(p_messages) m
        join unnest(v_old.message_ids, v_old.sent_ats, v_old.local_ids) o(message_id, sent_at, local_id)
          on o.message_id = m.message_id and o.sent_at = m.sent_at;
        continue when not found;
        delete from howdah.link_receipts r
        where r.arrival_id = p_arrival_id and r.receipt_id = v_old.receipt_id;
        insert into howdah.link_receipts (arrival_id, attempts, arrived_at, sender_boot, nonpersistent, message_ids,
            sent_ats, local_ids)
        select p_arrival_id, case when c.again then v_old.attempts || p_attempt else v_old.attempts end,
            v_old.arrived_at, v_old.sender_boot, v_old.nonpersistent, array_agg(c.message_id),
            array_agg(c.sent_at), array_agg(c.local_id)
        from (
            select o.*, exists (select from howdah._link_messages(p_messages) m
                where m.message_id = o.message_id and m.sent_at = o.sent_at) as again
            from unnest(v_old.message_ids, v_old.sent_ats, v_old.local_ids) o(message_id, sent_at, local_id)
        ) c
        group by c.again;
    end loop;
end
$$;
