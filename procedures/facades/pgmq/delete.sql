-- pgmq.delete(queue_name, msg_id): consume messages by their numbers, whoever read them.
--
-- Returns  true if the message was there; for msg_ids, the numbers of those that were.
-- Raises   42P01 no such queue; HD010 not allowed.
-- Role     howdah_consumer howdah_admin
--
-- One statement settles the usual messages: read, with the body in the row, in a queue that has a journal and keeps no
-- bodies. All others go to pgmq._delete.
create or replace function pgmq.delete(queue_name text, msg_id bigint) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_sort = off set enable_bitmapscan = off set jit = off
as $$
begin
    with queue as materialized (
        select d.id,
            case when delete.msg_id between 1 and 9223372036852 then delete.msg_id * 1000000 + d.id end as number
        from howdah.destinations d
        where d.name = lower(queue_name) and d.dropped_at is null and d.kind = 'queue'
          and d.keep_bodies_ms is null and d.journal_level <> 'off'
          and (howdah._has_role(d.receivers[1]) or howdah._has_right(d.id, 'receive', d.receivers))
    ), gone as (
        delete from howdah.parked p
        where p.ctid = (
                -- in an order that only the key has, as howdah._parked_rows
                select o.ctid from howdah.parked o
                where o.destination_id = (select q.id from queue q)
                  and o.message_id >= (select q.number from queue q)
                order by o.message_id limit 1)
          and p.message_id = delete.msg_id * 1000000 + p.destination_id
          and p.lease_id is null and p.boot is null and p.body is not null
        returning p.destination_id, p.message_id, p.sent_at
    )
    insert into howdah.journal (at, destination_id, nonpersistent, event, reason, message_ids, oldest_sent_at)
    select howdah.now(), g.destination_id, false, 'consumed', 'held', array[g.message_id], g.sent_at from gone g;
    return found or pgmq._delete(queue_name, array[msg_id]) is not null;
end
$$;

create or replace function pgmq.delete(queue_name text, msg_ids bigint[]) returns setof bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_sort = off set enable_bitmapscan = off set jit = off
as $$
declare
    v_gone bigint[];
begin
    with queue as materialized (
        select d.id, pgmq._message_ids(d.id, msg_ids) as ids
        from howdah.destinations d
        where d.name = lower(queue_name) and d.dropped_at is null and d.kind = 'queue'
          and d.keep_bodies_ms is null and d.journal_level <> 'off'
          and (howdah._has_role(d.receivers[1]) or howdah._has_right(d.id, 'receive', d.receivers))
    ), gone as (
        delete from howdah.parked p
        where p.ctid = any (array(
                -- in an order that only the key has: a plan of when the table was short would walk all hidden messages
                select o.ctid from howdah.parked o
                where o.destination_id = (select q.id from queue q)
                  and o.message_id >= (select min(i.id) from queue q cross join unnest(q.ids) i(id))
                  and o.message_id <= (select max(i.id) from queue q cross join unnest(q.ids) i(id))
                  and o.message_id = any ((select q.ids from queue q)::bigint[])
                order by o.message_id))
          and p.lease_id is null and p.boot is null and p.body is not null
        returning p.destination_id, p.message_id, p.sent_at
    ), listed as materialized (
        select g.destination_id, array_agg(g.message_id order by g.message_id) as ids, min(g.sent_at) as oldest_sent_at,
            array_agg(pgmq._number(g.destination_id, g.message_id)) as numbers
        from gone g group by g.destination_id
    ), journaled as (
        insert into howdah.journal (at, destination_id, nonpersistent, event, reason, message_ids, oldest_sent_at)
        select howdah.now(), l.destination_id, false, 'consumed', 'held', l.ids, l.oldest_sent_at from listed l
    )
    select l.numbers into v_gone from listed l;
    return query select unnest(v_gone);
    if (cardinality(v_gone) = cardinality(msg_ids)) is not true then
        v_gone := pgmq._delete(queue_name,
            array(select i.id from unnest(msg_ids) i(id) where (i.id = any (v_gone)) is not true));
        return query
        select pgmq._number(d.id, g.id)
        from howdah.destinations d cross join unnest(v_gone) g(id)
        where d.name = lower(queue_name) and d.dropped_at is null;
    end if;
end
$$;
