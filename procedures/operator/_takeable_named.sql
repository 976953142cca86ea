-- howdah._takeable_named(p_destination_id, p_message_ids): the named messages that howdah._take_back would take now,
-- each by its key.
--
-- Returns  id, origin and place of each: 1 ready, 2 parked or in a lease that has ended, 3 non-persistent.
-- Role     internal
--
-- OFFSET 0 stands in each subselect, so PostgreSQL runs it once for each key and does not read the whole queue.
create or replace function howdah._takeable_named(p_destination_id integer, p_message_ids bigint[])
returns table (message_id bigint, origin_id integer, place integer)
language sql stable set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
    with named as materialized (
        select k.* from howdah._named_keys(p_destination_id, p_message_ids) k
    )
    select n.message_id, k.origin_id, 1
    from named n cross join lateral (
        select m.origin_id from howdah.msgs m
        where m.destination_id = p_destination_id and m.rank = n.rank and m.seq = n.seq and m.message_id = n.message_id
        offset 0) k
    union all
    select n.id, k.origin_id, 2
    from (select distinct i.id from unnest(p_message_ids) i(id)) n cross join lateral (
        select p.origin_id from howdah.parked p
        where p.destination_id = p_destination_id and p.message_id = n.id
          and (p.parked_reason <> 'lease' or p.due_at <= howdah.now())
          and (p.boot is null or p.boot = pg_postmaster_start_time())
        offset 0) k
    union all
    select k.message_id, k.origin_id, 2
    from howdah.leases h cross join lateral (
        select l.message_id, l.origin_id from howdah.leased l
        where l.destination_id = p_destination_id and l.rank = h.rank and l.seq >= h.lease_id << 20
          and l.seq < (h.lease_id + 1) << 20
        offset 0) k
    where h.destination_id = p_destination_id and h.until <= howdah.now() and k.message_id = any (p_message_ids)
    union all
    select n.message_id, k.origin_id, 3
    from named n cross join lateral (
        select m.origin_id from howdah.msgs_nonpersistent m
        where m.destination_id = p_destination_id and m.rank = n.rank and m.seq = n.seq
          and m.message_id = n.message_id and m.boot = pg_postmaster_start_time()
        offset 0) k
$$;
