-- howdah.extend(queue, lease, duration, message_ids): let a lease run from now for so long.
--
-- Returns  when it ends (timestamptz). message_ids NULL: all that the lease still has.
-- Raises   HD001 no such queue; HD005 duration is not 1 ms to 7 days; HD010 not allowed; HD026 the lease has not (or no longer) one of these
--          messages.
-- Role     howdah_consumer howdah_admin
create or replace function howdah.extend(queue text, lease bigint, duration interval default '30 seconds', message_ids bigint[] default null)
returns timestamptz
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp set enable_seqscan = off
as $$
declare
    v_destination howdah.destinations := howdah._destination(queue, 'receive');
    v_until timestamptz := howdah._lease_until(duration);
    v_rank smallint;
    v_leased bigint := 0;
    v_parked bigint;
    v_published bigint;
begin
    if message_ids is null then
        -- Another row: a receiver that took the lease for ended a moment ago locks nothing of the new one.
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
    where p.ctid = any (array(select l.ctid from howdah._leased(v_destination.id, lease, message_ids) l));
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

-- howdah.list_leases(queue): the leases of a queue or subscription.
--
-- Returns  one row a lease: how many messages it has, and when it ends; one that has ended is there until somebody receives its messages.
-- Raises   HD001 no such queue; HD010 not allowed.
-- Role     howdah_admin howdah_consumer howdah_browser
create or replace function howdah.list_leases(queue text) returns table (lease bigint, messages bigint, leased_until timestamptz)
language plpgsql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_id integer := (howdah._destination(queue, 'browse')).id;
begin
    return query
    select l.lease_id, count(*), max(l.until)
    from (
        select p.lease_id, p.due_at as until from howdah.parked p
        where p.destination_id = v_id and p.lease_id is not null and (p.boot is null or p.boot = pg_postmaster_start_time())
        union all
        select o.lease_id, o.until from howdah.leases o cross join lateral howdah._in_lease(v_id, o.lease_id) where o.destination_id = v_id
        union all
        select d.lease_id, d.leased_until from howdah.acked d join howdah.acks a on a.id = d.ack_id
        where a.subscription_id = v_id and d.lease_id is not null
    ) l
    group by l.lease_id order by l.lease_id;
end
$$;

-- howdah._expire_leases(p_subscription_id): make topic messages whose lease ran out unread again, and record that it did.
--
-- Role     internal
--
-- In the receiver's transaction; what another one is just doing this for is passed by.
create or replace function howdah._expire_leases(p_subscription_id integer) returns void
language plpgsql volatile
as $$
declare
    v_row record;
begin
    for v_row in
        with gone as (
            delete from howdah.acked d
            where d.ctid = any (array(
                select c.ctid from howdah.acked c join howdah.acks a on a.id = c.ack_id
                where a.subscription_id = p_subscription_id and c.lease_id is not null and c.leased_until <= howdah.now() for update of c skip locked))
            returning d.ack_id, d.seq, d.lease_id
        )
        select g.* from gone g order by g.lease_id, g.seq
    loop
        perform howdah._record_expiry(p_subscription_id, v_row.seq * 1000000 + a.destination_id, 0::smallint, l.conversation_id,
            howdah._group(l.headers, l.conversation_id), v_row.lease_id)
        from howdah.acks a
        join howdah.subscriptions s on s.destination_id = a.subscription_id
        left join lateral howdah._locate(s, a, array[v_row.seq]) l on true  -- not there if it has expired: nothing, then, to be held up
        where a.id = v_row.ack_id;
    end loop;
end
$$;

-- howdah._blame_leases(p_destination_id, p_rows): record that leases ran out, before their messages are received again.
--
-- Role     internal
--
-- In the receiver's transaction: if it rolls back, the next one does it anew. The key, made of lease and message, makes it one incident.
create or replace function howdah._blame_leases(p_destination_id integer, p_rows howdah.parked[]) returns void
language plpgsql volatile
as $$
declare
    v_row howdah.parked;
begin
    for v_row in select r.* from unnest(p_rows) r order by r.lease_id, r.rank, r.seq loop
        perform howdah._record_expiry(p_destination_id, v_row.message_id, v_row.stage, v_row.conversation_id,
            howdah._group(v_row.headers, v_row.conversation_id), v_row.lease_id);
    end loop;
end
$$;

-- howdah._record_expiry(p_destination_id, p_message_id, p_stage, p_conversation_id, p_group, p_lease): store the incident of a lease that ran out.
--
-- Role     internal
--
-- The key holds a secret: whoever could guess it could tell of a failure in his own queue with it, and this one would be taken for recorded.
create or replace function howdah._record_expiry(
    p_destination_id integer, p_message_id bigint, p_stage smallint, p_conversation_id uuid, p_group text, p_lease bigint
) returns void
language plpgsql volatile
as $$
declare
    v_key uuid := md5(format('%s lease %s of %s', (select e.digest_secret from howdah.engine e), p_lease, p_message_id))::uuid;
    v_suspect boolean;
    v_text text := format('lease %s ended and was neither acknowledged nor extended', p_lease);
    v_now timestamptz;
begin
    if exists (select from howdah.poison_details p where p.failure_key = v_key) or not howdah._is_blamed(p_lease, p_message_id) then
        return;
    end if;
    perform nextval(d.failing) from howdah.destinations d where d.id = p_destination_id;
    v_suspect := howdah._is_suspect(p_lease);
    v_now := howdah.now();
    insert into howdah.poison_details (message_id, recorded_at, destination_id, attempt, stage, outcome, conversation_id, message_group,
        failure_key, error_class, error_text, recorded_by, rejected, uncounted, details, fingerprint, digest)
    values (p_message_id, v_now, p_destination_id,
        1 + howdah._failures(p_destination_id, p_message_id, p_stage, p_conversation_id, p_group), p_stage, 'returned', p_conversation_id,
        p_group, v_key, 'LeaseExpired', v_text, howdah._caller(), false, not v_suspect,
        case when not v_suspect then jsonb '{"uncounted": true}' end, howdah._fingerprint('LeaseExpired', v_text, null),
        howdah._seal((select e.digest_secret from howdah.engine e), p_message_id, v_now, 'LeaseExpired', v_text, null));
end
$$;

-- howdah._is_suspect(p_lease): whether the next message of a lease that ran out counts as failed.
--
-- Returns  boolean: true for the first ones of a lease that was held ahead of delivery, and for all of any other lease.
-- Role     internal
--
-- Receivers take what comes back from its beginning. If another one is just doing that, it has the first ones.
create or replace function howdah._is_suspect(p_lease bigint) returns boolean
language plpgsql volatile
as $$
begin
    if not exists (select from howdah.ahead_leases a where a.lease_id = p_lease) then
        return true;
    end if;
    update howdah.ahead_leases a set suspects = a.suspects - 1
    where a.ctid = (select c.ctid from howdah.ahead_leases c where c.lease_id = p_lease and c.suspects > 0 for update skip locked);
    return found;
end
$$;
