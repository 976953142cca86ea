-- howdah._take_named(p_destination, p_message_ids, p_limit): take named messages out of a destination, each by its key.
--
-- Returns  as howdah._take_back.
-- Role     internal
--
-- Of ready ones, FOR UPDATE stands in each subselect. So PostgreSQL runs it once for each key and does not read the
-- whole queue.
create or replace function howdah._take_named(
    p_destination howdah.destinations, p_message_ids bigint[], p_limit bigint
) returns table (message howdah.msgs, nonpersistent boolean)
language sql volatile set enable_seqscan = off set jit = off
as $$
    with named as materialized (
        select k.* from howdah._named_keys(p_destination.id, p_message_ids) k
    ), ready as (
        delete from howdah.msgs m where m.ctid = any (array(
            select k.ctid from named n cross join lateral (
                select c.ctid from howdah.msgs c
                where c.destination_id = p_destination.id and c.rank = n.rank and c.seq = n.seq
                  and c.message_id = n.message_id
                for update skip locked) k
            limit p_limit))
        returning m
    ), parked as (
        delete from howdah.parked p where p.ctid = any (array(
            select c.ctid from howdah.parked c
            where c.ctid = any (howdah._parked_rows(p_destination.id, p_message_ids))
              and (c.parked_reason <> 'lease' or c.due_at <= howdah.now())
            order by c.message_id limit p_limit - (select count(*) from ready) for update skip locked))
        returning p
    ), nonpersistent as (
        delete from howdah.msgs_nonpersistent m where m.ctid = any (array(
            select k.ctid from named n cross join lateral (
                select c.ctid from howdah.msgs_nonpersistent c
                where c.destination_id = p_destination.id and c.rank = n.rank and c.seq = n.seq
                  and c.message_id = n.message_id and c.boot = pg_postmaster_start_time()
                for update skip locked) k
            limit p_limit - (select count(*) from ready) - (select count(*) from parked)))
        returning m
    )
    select r.m, false from ready r
    union all select howdah._as_ready(p.p), (p.p).boot is not null from parked p
    union all select howdah._as_ready(n.m), true from nonpersistent n
$$;
