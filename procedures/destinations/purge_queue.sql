-- howdah.purge_queue(queue): discard every message of a queue that nobody is receiving just now.
--
-- Returns  the number of messages discarded (bigint).
-- Raises   HD001 no such queue; HD010 not allowed; HD024 it is a subscription and being read, or messages of it are leased; HD025 it is one in a restored
--          database (howdah.rebase_topics).
-- Role     howdah_admin
--
-- A subscription is purged of what was set aside for it and of all it has not read of its topics.
create or replace function howdah.purge_queue(queue text) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_destination howdah.destinations := howdah._queue(queue, 'admin');
    v_discarded bigint;
begin
    if v_destination.kind = 'subscription' then
        perform howdah._check_cluster();
        perform howdah._lock_subscription(v_destination);
    end if;
    v_discarded := howdah._empty(v_destination, 'purged');
    if v_destination.kind = 'subscription' then
        v_discarded := v_discarded + (
            select coalesce(sum(howdah._skip_backlog(v_destination, s, a, 'purged')), 0)
            from howdah.subscriptions s join howdah.acks a on a.subscription_id = s.destination_id
            where s.destination_id = v_destination.id);
    end if;
    return v_discarded;
end
$$;

-- howdah._empty(p_destination, p_reason): discard every message of a destination that no transaction (and, when purged, no lease) holds.
--
-- Returns  their number (bigint).
-- Role     internal
create or replace function howdah._empty(p_destination howdah.destinations, p_reason text) returns bigint
language plpgsql volatile
as $$
declare
    v_ids bigint[];
    v_nonpersistent boolean;
    v_discarded bigint := 0;
begin
    perform howdah._sweep_lost();
    if p_reason = 'purged' then
        perform howdah._return_leases(p_destination.id, null, howdah.now());
    else
        perform howdah._lay_down(p_destination.id, l.lease_id, null, null) from howdah.leases l where l.destination_id = p_destination.id;
    end if;
    for v_ids, v_nonpersistent in
        with ready as (
            delete from howdah.msgs m where m.ctid = any (array(
                select c.ctid from howdah.msgs c where c.destination_id = p_destination.id for update skip locked))
            returning m.message_id
        ), nonpersistent as (
            delete from howdah.msgs_nonpersistent n where n.ctid = any (array(
                select c.ctid from howdah.msgs_nonpersistent c where c.destination_id = p_destination.id
                for update skip locked))
            returning n.message_id
        ), parked as (
            delete from howdah.parked p where p.ctid = any (array(
                select c.ctid from howdah.parked c where c.destination_id = p_destination.id
                    and (p_reason <> 'purged' or c.lease_id is null or c.due_at <= howdah.now()) for update skip locked))
            returning p.message_id, p.boot is not null as nonpersistent
        )
        select array_agg(g.message_id order by g.message_id), g.nonpersistent
        from (select r.message_id, false as nonpersistent from ready r
              union all select n.message_id, true from nonpersistent n
              union all select p.message_id, p.nonpersistent from parked p) g
        group by g.nonpersistent
    loop
        perform howdah._journal(p_destination, 'discarded', v_ids, v_nonpersistent, null, p_reason);
        perform howdah._act('purged', p_destination.id, v_ids, null, p_reason);
        v_discarded := v_discarded + cardinality(v_ids);
    end loop;
    return v_discarded;
end
$$;
