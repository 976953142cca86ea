-- howdah._claim_groups(p_lane, p_walk, p_keys, p_groups, p_seqs, p_want, p_now, p_more, mine, refused): take what may
-- be taken from a page of a queue with message groups.
--
-- Returns  the keys taken, locked, in order, and those among them that begin a group new to the consumer. It also
--          returns the groups that the call has, and those that it must skip from here on. full_up: it has as many
--          groups as it may. through: it tried every group and every message of the page.
-- Role     internal
--
-- A group belongs to one transaction at a time (an advisory lock), so that its messages are taken in order. A message
-- that waits for its redelivery, or is under a lease, holds up later messages of its group.
--
-- One statement locks the groups. A later one locks the messages, and sees what the groups' last holders did. If it
-- cannot lock a message of a group, it leaves those behind it.
--
-- A transaction takes from at most max_locks_per_transaction groups, because each costs a lock in the server's table.
-- p_more: it may have more groups than it has. A consumer that is alone in the queue stops there and skips no group.
-- With hold, a group gives one message: consuming some and leaving others would break the order.
create or replace function howdah._claim_groups(
    p_lane howdah.lanes, p_walk howdah.walk, p_keys bigint[], p_groups text[], p_seqs integer[], p_want integer,
    p_now timestamptz, p_more boolean, inout mine text[], inout refused text[], out taken bigint[], out firsts bigint[],
    out full_up boolean, out through boolean
) returns record
language plpgsql volatile
as $$
declare
    v_most integer := howdah._most_groups();
    v_group record;
    v_fresh text[] := '{}';
    v_new text[] := '{}';
    v_keys bigint[];
    v_gaps text[];
    v_held text[];
    v_before bigint[];
    v_firsts bigint[] := '{}';
    v_upto bigint;
begin
    through := true;
    for v_group in
        select u.group_id, u.starts, o.consumer_id is not null and not u.starts as owned,
            -- Do not try it: its lock would be one of a limited number.
            p_lane.place > 0 and exists (select from howdah.parked p where p.destination_id = p_lane.destination_id
                                             and p.group_id = u.group_id and p.seq < u.first) as held
        from (select g.group_id, (array_agg(g.seq order by g.n))[1] = 1 as starts, min(g.n) as n, min(g.key) as first
              from unnest(p_keys, p_groups, p_seqs) with ordinality g(key, group_id, seq, n)
              where p_more and g.group_id is not null
                -- not "<> all", which would go through the array for each row: thousands of groups may wait
                and not exists (select from unnest(mine || refused) k(known) where k.known = g.group_id)
              group by g.group_id) u
        left join howdah.group_owners o
            on o.destination_id = p_lane.destination_id and o.group_id = u.group_id and o.consumer_id <> p_walk.consumer
        order by u.n
    loop
        through := cardinality(v_fresh) < least(v_most - cardinality(mine), p_want);
        exit when not through;
        if v_group.owned or v_group.held or not howdah._lock_group(p_lane.destination_id, v_group.group_id) then
            refused := refused || v_group.group_id;
        else
            v_fresh := v_fresh || v_group.group_id;
            v_new := v_new || array_remove(array[case when v_group.starts then v_group.group_id end], null);
        end if;
    end loop;
    full_up := cardinality(mine) + cardinality(v_fresh) >= v_most;
    select coalesce(array_agg(h.group_id), '{}'), array_agg(h.seq) into v_held, v_before
    from (select p.group_id, min(p.seq) as seq from howdah.parked p
          where p.destination_id = p_lane.destination_id and p.group_id = any (v_fresh) group by p.group_id) h;
    if p_lane.place = 0 and cardinality(v_held) > 0 then
        v_firsts := howdah._first_held(p_lane, p_walk, v_held, p_now);
    end if;
    v_gaps := '{}';
    if p_walk.groups = 'sticky' then
        v_gaps := v_gaps || array(select o.group_id from howdah.group_owners o
                                  where o.destination_id = p_lane.destination_id and o.group_id = any (v_fresh)
                                    and o.consumer_id <> p_walk.consumer and o.group_id <> all (v_new));
        v_new := array(select f.group_id from unnest(v_fresh) f(group_id)
                       where not exists (select from howdah.group_owners o
                                         where o.destination_id = p_lane.destination_id and o.group_id = f.group_id
                                           and o.consumer_id = p_walk.consumer));
    end if;
    refused := refused || v_gaps;
    mine := array(select g from unnest(mine || v_fresh) g where g <> all (v_gaps));
    if p_walk.groups = 'alone' then
        v_upto := (select min(g.n) from unnest(p_groups) with ordinality g(group_id, n)
                   where g.group_id is not null
                     and not exists (select from unnest(mine || refused) k(known) where k.known = g.group_id));
    end if;
    v_keys := array(
        select u.key from (
            select k.key, k.n, row_number() over (partition by k.group_id order by k.n) as nth, k.group_id
            from unnest(p_keys, p_groups) with ordinality k(key, group_id, n)
            where (k.n < v_upto) is not false
              and (k.group_id is null
                   or k.group_id = any (mine)
                      and (k.group_id <> all (v_held)
                           or case when p_lane.place = 0 then k.key = any (v_firsts)
                               else k.key < v_before[array_position(v_held, k.group_id)] end))
        ) u
        where u.group_id is null or u.nth = 1 and u.group_id = any (v_fresh) or not p_walk.hold
        order by u.n);
    taken := case when cardinality(v_keys) > 0 then howdah._walk_lock(p_lane, v_keys, p_want, p_now) else '{}' end;
    through := through and cardinality(taken) < p_want;
    v_gaps := howdah._group_gaps(p_lane, p_keys, p_groups, v_keys, taken, p_want, p_now);
    if v_gaps is not null then
        taken := array(
            select t.key from unnest(taken) with ordinality t(key, n)
            where coalesce(p_groups[array_position(p_keys, t.key)] <> all (v_gaps), true) order by t.n);
        refused := refused || v_gaps;
        mine := array(select g from unnest(mine) g where g <> all (v_gaps));
    end if;
    refused := refused || v_held;
    mine := array(select g from unnest(mine) g where g <> all (v_held));
    firsts := '{}';
    if p_walk.groups = 'sticky' then
        firsts := howdah._own_groups(p_lane.destination_id, p_walk.consumer, p_keys, p_groups, p_seqs, taken, v_new);
    end if;
end
$$;
