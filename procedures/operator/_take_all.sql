-- howdah._take_all(p_destination, p_message_ids, p_limit): take messages out of a destination, in one pass through it.
--
-- Returns  as howdah._take_back.
-- Role     internal
create or replace function howdah._take_all(p_destination howdah.destinations, p_message_ids bigint[], p_limit bigint)
returns table (message howdah.msgs, nonpersistent boolean)
language sql volatile
as $$
    with ready as (
        delete from howdah.msgs m where m.ctid = any (array(
            select c.ctid from howdah.msgs c
            where c.destination_id = p_destination.id and (p_message_ids is null or c.message_id = any (p_message_ids))
            order by c.message_id limit p_limit for update skip locked))
        returning m
    ), parked as (
        delete from howdah.parked p where p.ctid = any (array(
            select c.ctid from howdah.parked c
            where c.destination_id = p_destination.id and (p_message_ids is null or c.message_id = any (p_message_ids))
              and (c.parked_reason <> 'lease' or c.due_at <= howdah.now())
            order by c.message_id limit p_limit - (select count(*) from ready) for update skip locked))
        returning p
    ), nonpersistent as (
        delete from howdah.msgs_nonpersistent n where n.ctid = any (array(
            select c.ctid from howdah.msgs_nonpersistent c
            where c.destination_id = p_destination.id and c.boot = pg_postmaster_start_time()
              and (p_message_ids is null or c.message_id = any (p_message_ids))
            order by c.message_id limit p_limit - (select count(*) from ready) - (select count(*) from parked)
            for update skip locked))
        returning n
    )
    select r.m, false from ready r
    union all select howdah._as_ready(p.p), (p.p).boot is not null from parked p
    union all select howdah._as_ready(n.n), true from nonpersistent n
$$;
