-- howdah.link_arrived(link_id, attempt): what the receiving side of a link says, for an audit of both its engines.
--
-- Returns  one row: arrived and batch. of_attempt: how many messages have a receipt of the sender's last committed
--          attempt. in_transit: the sender's ids of those with a receipt of other attempts alone. may_be_lost: of
--          these, the ones that are non-persistent there. missing: the ids here of messages with a receipt that do not
--          lie here, and have not left on record. lost: how many a restart of the sender took before it knew that they
--          had arrived.
-- Raises   HD041 no such link leads here.
-- Role     howdah_auditor howdah_admin
--
-- attempt is what howdah.link_sent returned at the sender, while howdah.hold_link keeps batches away there. missing is
-- empty where the queue keeps no journal, or has dropped that of the last batch. Non-persistent messages that arrived
-- before this server started are not missing: a crash takes them without a record.
create or replace function howdah.link_arrived(link_id uuid, attempt uuid)
returns table (arrived bigint, batch bigint, of_attempt bigint, in_transit bigint[], missing bigint[],
    may_be_lost bigint[], lost bigint)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_arrival howdah.link_arrivals;
begin
    select a.* into v_arrival from howdah.link_arrivals a where a.link_id = link_arrived.link_id;
    if not found then
        raise exception using errcode = 'HD041', message = 'no such link leads here',
            hint = 'See howdah.list_arrivals().';
    end if;
    return query
    with receipt as (
        select coalesce(link_arrived.attempt = any (r.attempts), false) as committed, u.message_id,
            u.local_id, r.sender_boot is not null as nonpersistent_there,
            r.nonpersistent and r.arrived_at < (select d.server_started_at from howdah.audit_destinations d limit 1)
                as gone_here
        from howdah.link_receipts r cross join unnest(r.message_ids, r.local_ids) u(message_id, local_id)
        where r.arrival_id = v_arrival.arrival_id
    ), absent as (
        select r.local_id from howdah.engine e
        cross join receipt r
        join howdah.destinations d on d.id = r.local_id % 1000000 and d.kind = 'queue' and d.journal_level <> 'off'
        where v_arrival.arrived_at > howdah.now() - e.journal_retention_days * interval '1 day'
          and not r.gone_here
          and not exists (select from howdah.msgs m where m.message_id = r.local_id and m.destination_id = d.id)
          and not exists (select from howdah.msgs_nonpersistent n
              where n.message_id = r.local_id and n.destination_id = d.id)
          and not exists (select from howdah.parked p where p.message_id = r.local_id and p.destination_id = d.id)
          and not exists (select from howdah.leased l where l.message_id = r.local_id and l.destination_id = d.id)
    )
    select v_arrival.arrived, v_arrival.batch,
        (select count(*) from receipt r where r.committed),
        array(select r.message_id from receipt r where not r.committed order by 1),
        array(select a.local_id from absent a
            except
            select e.message_id from howdah.journal j cross join unnest(j.message_ids) e(message_id)
            where j.event <> 'sent' and j.at >= v_arrival.created_at
              and e.message_id in (select a.local_id from absent a)
            order by 1),
        array(select r.message_id from receipt r where not r.committed and r.nonpersistent_there order by 1),
        v_arrival.lost;
end
$$;
