-- howdah.list_leases(queue, after, max_rows): list the leases of a queue or subscription, or of all that the caller may
-- browse, the oldest first.
--
-- Returns  one row per lease: how many messages it has, and when it ends. consumer: who has it, if it ends with that
--          one's session. A lease that has ended stays listed until somebody receives its messages.
-- Raises   HD001 no such queue; HD005 max_rows is not 1 to 10000; HD010 not allowed.
-- Role     howdah_admin howdah_consumer howdah_browser howdah_auditor
--
-- Numbers of leases grow, so a lower one is older. When a lease began is not on record.
-- max_rows NULL: all. For the next page, pass the last lease as after.
create or replace function howdah.list_leases(
    queue text default null, after bigint default null, max_rows integer default null
) returns table (
    lease bigint, messages bigint, leased_until timestamptz, queue_name text, consumer bigint
)
language plpgsql stable security definer set search_path = pg_catalog, howdah, pg_temp
    set plan_cache_mode = force_custom_plan
as $$
declare
    v_id integer := case when queue is not null then (howdah._destination(queue, 'browse')).id end;
begin
    return query
    with apart as materialized (
        select p.destination_id, p.lease_id, count(*) as messages, max(p.due_at) as until from howdah.parked p
        where p.lease_id is not null and (after is null or p.lease_id > after)
          and (v_id is null or p.destination_id = v_id) and (p.boot is null or p.boot = pg_postmaster_start_time())
        group by p.destination_id, p.lease_id
        union all
        select a.subscription_id, d.lease_id, count(*), max(d.leased_until)
        from howdah.acked d join howdah.acks a on a.id = d.ack_id
        where d.lease_id is not null and (after is null or d.lease_id > after)
          and (v_id is null or a.subscription_id = v_id)
        group by a.subscription_id, d.lease_id
    ), known as materialized (
        select a.destination_id, a.lease_id from apart a
        union
        select o.destination_id, o.lease_id from howdah.leases o
        where (after is null or o.lease_id > after) and (v_id is null or o.destination_id = v_id)
          and exists (select from howdah._in_lease(o.destination_id, o.lease_id))
    ), place as materialized (
        select d.id, d.name from howdah.destinations d
        where d.id in (select k.destination_id from known k) and d.dropped_at is null and (d.id = v_id
            or v_id is null and not d.name ^@ '_TEMP.' and howdah._has_right(d.id, 'browse'))
    ), shown as materialized (
        select k.destination_id, k.lease_id, p.name from known k join place p on p.id = k.destination_id
        order by k.lease_id limit howdah._most_rows(max_rows)
    )
    select s.lease_id, (coalesce(sum(a.messages), 0) + (select count(*) from howdah._in_lease(s.destination_id,
            s.lease_id)))::bigint,
        greatest(max(a.until), (select o.until from howdah.leases o where o.lease_id = s.lease_id)), s.name,
        (select c.consumer_id::bigint from howdah.consumer_leases c where c.lease_id = s.lease_id)
    from shown s
    left join apart a on a.lease_id = s.lease_id and a.destination_id = s.destination_id
    group by s.lease_id, s.destination_id, s.name
    order by s.lease_id;
end
$$;
