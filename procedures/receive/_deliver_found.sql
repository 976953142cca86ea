-- howdah._deliver_found(p_lane, p_name, …): deliver messages that howdah._find_in_lane has found and locked, or dispose
-- of them.
--
-- Returns  howdah.message of each, in order. It leaves out those that have expired or reached the limit. It also leaves
--          out those behind one of their group that must wait or may be parked at its limit.
-- Role     internal
--
-- p_strict: all messages are one group. With groups the journal has the time after the locks, as in
-- howdah._deliver_locked.
--
-- Failures are counted where something ever failed (p_failing was drawn from), with a snapshot taken after the lock. A
-- lease that ran out is one: taking its message records it.
create or replace function howdah._deliver_found(
    p_lane howdah.lanes, p_name text, p_positions bigint[], p_tids tid[], p_firsts bigint[], p_walk howdah.walk,
    p_hold boolean, p_limit integer, p_failing regclass, p_journaled boolean, p_now timestamptz, p_strict boolean
) returns setof howdah.message
language plpgsql volatile
as $$
begin
    return query
    with taken as materialized (
        select t as claim, t.*, row_number() over () as number
        from howdah._take_locked(p_lane, p_positions, p_tids, p_firsts, p_hold) t
    ), failed as materialized (
        select f.*
        from (select array_agg(t.message_id) as ids, array_agg(t.stage) as stages,
                  array_agg(t.conversation_id) as conversations,
                  array_agg(howdah._group(t.headers, t.conversation_id)) as groups
              from taken t) a
        cross join lateral howdah._count_failures(p_lane.destination_id, a.ids, a.stages, a.conversations, a.groups) f
        where (select pg_sequence_last_value(p_failing) is not null and count(*) > 0 from taken)
    ), holding as materialized (
        -- A message that must wait holds up those behind it, though its failure was recorded after the walk looked.
        -- One at its limit may be blocked or quarantined; if it is not, the next round finds those behind it.
        select case when not p_strict then howdah._group(t.headers, t.conversation_id) end as group_id,
            min(t.number) filter (where f.weight = 2147483647) as waits, min(t.number) as ends
        from failed f join taken t on t.message_id = f.message_id and t.stage = f.stage
        where (f.weight >= p_limit or f.weight = 2147483647) and (p_strict or p_walk.groups <> 'none')
        group by 1
    ), claimed as materialized (
        select t.*, coalesce(f.failures, 0) as failures,
            coalesce(t.expires_at <= p_now, false) or coalesce(f.weight, 0) >= p_limit as ended,
            exists (
                select from holding o
                where (p_strict or o.group_id = howdah._group(t.headers, t.conversation_id))
                  and (o.waits < t.number or o.ends < t.number and coalesce(f.weight, 0) < p_limit)
            ) as held_up
        from taken t left join failed f on f.message_id = t.message_id and f.stage = t.stage
    ), journaled as (
        insert into howdah.journal (at, destination_id, nonpersistent, event, reason, message_ids, oldest_sent_at)
        select case when p_walk.groups <> 'none' then howdah.now() else p_now end, p_lane.destination_id,
            c.nonpersistent, 'consumed', case when p_walk.condition is not null then 'selected' end,
            array_agg(c.message_id), min(c.sent_at)
        from claimed c where not c.ended and not c.held_up and not p_hold and p_journaled
        group by c.nonpersistent
    )
    select c.message_id, p_name,
        CONTENT_OF c ELSE case when p_hold then howdah._body(c.message_id) else howdah._take_body(c.message_id) end,
        case when c.nonpersistent then 'non-persistent' else 'persistent' end, c.sent_at, c.expires_at,
        c.failures + 1, c.failures > 0, c.seq,
        ORIGIN_OF c,
        howdah._level_name(c.reliability, c.nonpersistent)
    from claimed c
    where case when c.held_up then howdah._put_back(howdah._as_ready(c.claim), c.nonpersistent, p_hold,
            c.place = 'parked')
        else not c.ended or howdah._dispose(p_lane.destination_id, howdah._as_ready(c.claim), c.nonpersistent,
            case when p_hold then c.place end, p_now) end
    order by c.number;
end
$$;
