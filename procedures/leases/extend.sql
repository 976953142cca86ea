-- howdah.extend(queue, lease, duration, message_ids): extend a lease to a duration from now.
--
-- Returns  when the lease ends (timestamptz). message_ids NULL: all messages that the lease still has.
-- Raises   HD001 no such queue; HD005 duration is not 1 ms to 7 days; HD010 not allowed; HD026 the lease does not have,
--          or no longer has, one of these messages, or ran out in a queue with limits (docs/handler-limits.md).
-- Role     howdah_consumer howdah_admin
create or replace function howdah.extend(
    queue text, lease bigint, duration interval default '30 seconds', message_ids bigint[] default null
)
returns timestamptz
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp set enable_seqscan = off
    set jit = off
as $$
declare
    v_destination howdah.destinations := howdah._destination(queue, 'receive');
    v_until timestamptz := howdah._lease_until(duration);
    v_rank smallint;
    v_leased bigint := 0;
    v_parked bigint;
    v_published bigint;
begin
    perform howdah._commit_needs(4);
    if message_ids is null then
        -- Replace the row: a receiver that found the lease ended a moment ago then locks nothing of the new one.
        with gone as (
            delete from howdah.leases l
            where l.lease_id = lease and l.destination_id = v_destination.id and l.until > howdah.now()
            returning l.*
        )
        insert into howdah.leases as i (lease_id, until, destination_id, rank)
        select g.lease_id, v_until, g.destination_id, g.rank from gone g returning i.rank into v_rank;
    end if;
    if v_rank is not null then
        v_leased := (select count(*) from howdah._in_lease(v_destination.id, lease));
    else
        perform howdah._lay_down(v_destination.id, lease, message_ids, v_until);
    end if;
    update howdah.parked p set due_at = v_until
    where p.ctid = any (array(select l.ctid from howdah._parked_of_lease(v_destination.id, lease, message_ids) l))
      -- the permit of a lease that has run out may be another's
      and (not v_destination.limited or p.due_at > howdah.now());
    get diagnostics v_parked = row_count;
    update howdah.acked d set leased_until = v_until
    from howdah.acks a
    where a.subscription_id = v_destination.id and d.ack_id = a.id and d.lease_id = lease
      and (message_ids is null or d.seq * 1000000 + a.destination_id = any (message_ids));
    get diagnostics v_published = row_count;
    perform howdah._check_lease(v_destination, lease, message_ids, v_leased + v_parked + v_published);
    return v_until;
end
$$;
