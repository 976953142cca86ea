-- howdah.list_groups(queue, max_groups): list message groups of a queue: how many messages each has, who has the group,
-- and what holds it up.
--
-- Returns  up to max_groups rows, the groups with most messages first. messages: ready ones of those looked at, and
--          leased: those under a lease. held_up: messages that wait after a failure or under a lease, with the rest of
--          the group behind them, until held_until. consumer: the open consumer that owns the group, since owned_since;
--          NULL: none. Each row also has the number of messages looked at, and whether those were all (complete).
-- Raises   HD001 no such queue; HD005 max_groups is not 1 to 1000; HD010 not allowed; HD037 on a standby.
-- Role     howdah_admin howdah_browser howdah_consumer howdah_auditor
--
-- It looks at the first 10,000 messages of each table by keys: the next to be received come first. Owned groups are
-- listed though no message of theirs is there.
create or replace function howdah.list_groups(queue text, max_groups integer default 100) returns table (
    message_group text, messages bigint, leased bigint, held_up bigint, held_until timestamptz,
    oldest_sent_at timestamptz, consumer bigint, owned_since timestamptz, looked bigint, complete boolean
)
language plpgsql stable security definer set search_path = pg_catalog, howdah,
    pg_temp set enable_seqscan = off set jit = off
as $$
declare
    v_id constant integer := (howdah._destination(queue, 'browse')).id;
    v_most constant bigint := 10000;
begin
    perform howdah._check_all_here();
    if max_groups is null or max_groups not between 1 and 1000 then
        raise exception using errcode = 'HD005',
            message = format('max_groups must be 1 to 1000, not %s', coalesce(max_groups::text, 'NULL'));
    end if;
    return query
    with message as materialized (
        (select howdah._group(m.headers, m.conversation_id) as key, m.sent_at, false as is_leased, 1 as place
         from howdah.msgs m where m.destination_id = v_id order by m.destination_id, m.rank, m.seq limit v_most)
        union all
        (select howdah._group(n.headers, n.conversation_id), n.sent_at, false, 2 from howdah.msgs_nonpersistent n
         where n.destination_id = v_id and n.boot = pg_postmaster_start_time()
         order by n.destination_id, n.rank, n.seq limit v_most)
        union all
        (select howdah._group(l.headers, l.conversation_id), l.sent_at, true, 3
         from howdah.leased l where l.destination_id = v_id order by l.destination_id, l.rank, l.seq limit v_most)
    ), held as materialized (
        select p.group_id as key, count(*) as held_up, max(p.due_at) as held_until,
            count(p.lease_id) as leased
        from (select h.group_id, h.due_at, h.lease_id from howdah.parked h
              where h.destination_id = v_id and h.group_id is not null
                and (h.boot is null or h.boot = pg_postmaster_start_time()) limit v_most) p
        group by p.group_id
    ), counted as (
        select m.key, count(*) filter (where not m.is_leased) as messages,
            count(*) filter (where m.is_leased) as leased, min(m.sent_at) as oldest_sent_at
        from message m where m.key is not null group by m.key
    ), owned as (
        select o.group_id as key, o.consumer_id, o.owned_since from howdah.group_owners o
        where o.destination_id = v_id limit v_most
    ), extent as (
        select count(*) + (select coalesce(sum(h.held_up), 0) from held h) as looked,
            not exists (select from message x group by x.place having count(*) >= v_most)
                and (select coalesce(sum(h.held_up), 0) from held h) < v_most as complete
        from message
    )
    select k.key, coalesce(c.messages, 0), coalesce(c.leased, 0) + coalesce(h.leased, 0), coalesce(h.held_up, 0),
        h.held_until, c.oldest_sent_at, o.consumer_id::bigint, o.owned_since, e.looked::bigint, e.complete
    from (select x.key from counted x union select x.key from held x union select x.key from owned x) k
    cross join extent e
    left join counted c on c.key = k.key
    left join held h on h.key = k.key
    left join owned o on o.key = k.key
    order by coalesce(c.messages, 0) + coalesce(c.leased, 0) + coalesce(h.held_up, 0) desc, k.key
    limit max_groups;
end
$$;
