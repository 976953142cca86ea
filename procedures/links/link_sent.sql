-- howdah.link_sent(name, in_transit, may_be_lost): what the sending side of a link says, for an audit of both its
-- engines.
--
-- Returns  one row: forwarded, batch and attempt, as the last commit left them. gone: of the messages in in_transit,
--          the ids that arrived at the target, and no longer wait here though they were not forwarded.
-- Raises   HD010 not allowed; HD041 there is no such link.
-- Role     howdah_auditor howdah_admin
--
-- in_transit and may_be_lost are what howdah.link_arrived returned at the target, while howdah.hold_link keeps batches
-- away. One that may be lost is gone only if the journal says that somebody took it, or that it expired. Of a
-- subscription, gone is empty.
create or replace function howdah.link_sent(
    name text, in_transit bigint[] default '{}', may_be_lost bigint[] default '{}'
) returns table (link_id uuid, forwarded bigint, batch bigint, attempt uuid, gone bigint[])
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_link howdah.links := howdah._link(link_sent.name, 'browse');
begin
    return query
    with absent as (
        select i.message_id, i.message_id = any (may_be_lost) as may_be_lost from unnest(in_transit) i(message_id)
        join howdah.destinations d on d.id = v_link.source_id and d.kind = 'queue'
        where not exists (select from howdah.msgs m
                where m.destination_id = v_link.source_id and m.message_id = i.message_id)
          and not exists (select from howdah.msgs_nonpersistent n
                where n.destination_id = v_link.source_id and n.message_id = i.message_id)
          and not exists (select from howdah.parked p
                where p.destination_id = v_link.source_id and p.message_id = i.message_id)
          and not exists (select from howdah.leased l
                where l.destination_id = v_link.source_id and l.message_id = i.message_id)
    )
    select v_link.link_id, v_link.forwarded, v_link.batch, v_link.attempt, array(
        select a.message_id from absent a where not a.may_be_lost
        union
        select e.message_id from howdah.journal j cross join unnest(j.message_ids) e(message_id)
        where exists (select from absent a where a.may_be_lost)  -- else the journal is not read
          and j.destination_id = v_link.source_id and j.at >= v_link.created_at
          and j.event not in ('sent', 'discarded', 'lost')
          and e.message_id in (select a.message_id from absent a where a.may_be_lost)
        order by 1);
end
$$;
