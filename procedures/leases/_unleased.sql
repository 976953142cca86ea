-- howdah._unleased(p_row): a leased message as the ready one that it was.
--
-- Returns  howdah.msgs.
-- Role     internal
--
-- In leased the position is the lease's number times 2^20 and a number within the lease, so that the messages of a lease lie together. None of
-- these ever moved, so its number tells its position in the queue.
create or replace function howdah._unleased(p_row howdah.leased) returns howdah.msgs
language sql immutable
as $$
    select row(p_row.message_id / 1000000, p_row.message_id, p_row.sent_at, p_row.expires_at, p_row.dead_at, p_row.destination_id,
        p_row.origin_id, p_row.rank, p_row.stage, p_row.is_text, p_row.content_type, p_row.body, p_row.headers,
        p_row.correlation_id, p_row.reply_to, p_row.message_type, p_row.conversation_id, p_row.dead_reason)::howdah.msgs
$$;

-- howdah._in_lease(p_destination_id, p_lease, p_message_ids): the messages that a lease has in the table leased, of some or (NULL) of all.
--
-- Returns  setof howdah.leased, in order; nothing is locked.
-- Role     internal
create or replace function howdah._in_lease(p_destination_id integer, p_lease bigint, p_message_ids bigint[] default null)
returns setof howdah.leased
language sql stable
    set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
    select m.*
    from howdah.leases l join howdah.leased m
        on m.destination_id = l.destination_id and m.rank = l.rank and m.seq >= l.lease_id << 20 and m.seq < (l.lease_id + 1) << 20
    where l.lease_id = p_lease and l.destination_id = p_destination_id and (p_message_ids is null or m.message_id = any (p_message_ids))
    order by m.seq
$$;

-- howdah._is_leased(p_destination_id, p_message_id): whether a message is under a lease that has not run out.
--
-- Returns  boolean.
-- Role     internal
create or replace function howdah._is_leased(p_destination_id integer, p_message_id bigint) returns boolean
language sql volatile
as $$
    select exists (
            select from howdah.parked p
            where p.destination_id = p_destination_id and p.message_id = p_message_id and p.lease_id is not null and p.due_at > howdah.now())
        or exists (
            select from howdah.leased m join howdah.leases l on l.lease_id = m.seq >> 20 and l.destination_id = m.destination_id
            where m.destination_id = p_destination_id and m.message_id = p_message_id and l.until > howdah.now())
        or exists (
            select from howdah.acks a join howdah.acked d on d.ack_id = a.id
            where a.subscription_id = p_destination_id and a.destination_id = p_message_id % 1000000 and d.seq = p_message_id / 1000000
              and d.lease_id is not null and d.leased_until > howdah.now())
$$;

-- howdah._lay_down(p_destination_id, p_lease, p_message_ids, p_until): lay messages of a lease into parked, each with its own end.
--
-- Returns  their number (bigint); those that somebody else is just receiving, because the lease ran out, are passed by.
-- Role     internal
--
-- p_message_ids NULL: all of them. p_until NULL: they end when the lease does. While the lease lasts nobody has its messages but who renews it, gives
-- them back or acknowledges them: that is waited for.
create or replace function howdah._lay_down(p_destination_id integer, p_lease bigint, p_message_ids bigint[], p_until timestamptz) returns bigint
language plpgsql volatile
    set enable_seqscan = off
as $$
declare
    v_lease howdah.leases;
    v_count bigint := 0;
begin
    select l.* into v_lease from howdah.leases l where l.lease_id = p_lease and l.destination_id = p_destination_id;
    if found then
        if v_lease.until > howdah.now() then
            perform from howdah.leased c
            where c.destination_id = p_destination_id and c.rank = v_lease.rank and c.seq >= p_lease << 20 and c.seq < (p_lease + 1) << 20
              and (p_message_ids is null or c.message_id = any (p_message_ids))
            order by c.seq for update;
        end if;
        with gone as (
            delete from howdah.leased m where m.ctid = any (array(
                select c.ctid from howdah.leased c
                where c.destination_id = p_destination_id and c.rank = v_lease.rank and c.seq >= p_lease << 20 and c.seq < (p_lease + 1) << 20
                  and (p_message_ids is null or c.message_id = any (p_message_ids))
                order by c.seq for update skip locked))
            returning m
        )
        insert into howdah.parked
        select (howdah._unleased(g.m)).*, coalesce(p_until, v_lease.until), 'lease', null, p_lease from gone g;
        get diagnostics v_count = row_count;
        perform howdah._forget_lease(v_lease);
    end if;
    return v_count;
end
$$;

-- howdah._return_leases(p_destination_id, p_want, p_now, p_since, p_message_ids): lay messages of leases that ran out into parked, from where receives take what is due.
--
-- Role     internal
--
-- At most p_want (NULL: all), in the order in which their leases ended; those that others are receiving are passed by. p_since: only leases
-- that ended after this (NULL: all). p_message_ids: only these (NULL: all). The leases are locked first, against howdah.extend, which replaces their rows: so a message is locked only if
-- its lease has ended indeed, and nobody's acknowledgement ever waits for a receiver that came a moment too early.
create or replace function howdah._return_leases(
    p_destination_id integer, p_want bigint, p_now timestamptz, p_since timestamptz default null, p_message_ids bigint[] default null
) returns void
language plpgsql volatile
    set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
    v_until timestamptz := coalesce(p_since, '-infinity');
    v_last bigint := 9223372036854775807;
    v_leases bigint[];
    v_left bigint := p_want;
    v_moved bigint;
begin
    if not exists (select from howdah.leases l where l.destination_id = p_destination_id and l.until <= p_now and l.until > v_until) then
        return;
    end if;
    loop
        v_leases := array(
            select l.lease_id from howdah.leases l
            where l.destination_id = p_destination_id and l.until <= p_now and (l.until, l.lease_id) > (v_until, v_last)
            order by l.until, l.lease_id limit case when p_want is not null then greatest(p_want, 100) end for share skip locked);
        exit when v_leases = '{}';
        with gone as (
            delete from howdah.leased m where m.ctid = any (array(
                select c.ctid
                from howdah.leases l join howdah.leased c
                    on c.destination_id = l.destination_id and c.rank = l.rank and c.seq >= l.lease_id << 20 and c.seq < (l.lease_id + 1) << 20
                where l.lease_id = any (v_leases) and (p_message_ids is null or c.message_id = any (p_message_ids))
                order by l.until, c.seq limit v_left for update of c skip locked))
            returning m
        )
        insert into howdah.parked
        select (howdah._unleased(g.m)).*, l.until, 'lease', null, l.lease_id
        from gone g join howdah.leases l on l.lease_id = (g.m).seq >> 20;
        get diagnostics v_moved = row_count;
        v_left := v_left - v_moved;
        select l.until, l.lease_id into v_until, v_last from howdah.leases l where l.lease_id = v_leases[cardinality(v_leases)];
        perform howdah._forget_lease(l) from howdah.leases l where l.lease_id = any (v_leases);
        exit when v_left <= 0 or p_want is null;
    end loop;
end
$$;

-- howdah._forget_lease(p_lease): delete the record of a lease that has no message left in leased.
--
-- Role     internal
--
-- A message that another transaction is just taking still counts. What is left behind so is forgotten when the lease has ended.
create or replace function howdah._forget_lease(p_lease howdah.leases) returns void
language plpgsql volatile
    set enable_seqscan = off
as $$
begin
    if not exists (select from howdah._in_lease(p_lease.destination_id, p_lease.lease_id)) then
        delete from howdah.leases l where l.ctid = (select o.ctid from howdah.leases o where o.lease_id = p_lease.lease_id for update skip locked);
    end if;
end
$$;
