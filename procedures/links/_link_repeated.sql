-- howdah._link_repeated(p_arrival_id, p_messages): find the messages of a batch that arrived before, and
-- move their receipts to this attempt.
--
-- Returns  message_id, sent_at and local_id of each.
-- Role     internal
--
-- A message of a former attempt that this one does not bring keeps its receipt there: it lies in the sending engine
-- still, and comes again.
create or replace function howdah._link_repeated(p_arrival_id integer, p_messages json)
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
        where r.arrival_id = p_arrival_id and r.attempt = v_old.attempt;
        insert into howdah.link_receipts (attempt, arrival_id, message_ids, sent_ats, local_ids)
        select v_old.attempt, p_arrival_id, array_agg(o.message_id), array_agg(o.sent_at), array_agg(o.local_id)
        from unnest(v_old.message_ids, v_old.sent_ats, v_old.local_ids) o(message_id, sent_at, local_id)
        where not exists (select from howdah._link_messages(p_messages) m
            where m.message_id = o.message_id and m.sent_at = o.sent_at)
        having count(*) > 0;
    end loop;
end
$$;
