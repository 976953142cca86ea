-- howdah._count_failures(p_destination_id, p_message_ids, p_stages, p_conversations, p_groups): count the failures of
-- messages that the caller has claimed.
--
-- Returns  message_id, stage, the number of failures, and the number that the limit is compared with; only messages
--          that have any. That last number is above any limit if the message was rejected, or waits for the delay of
--          its last failure. howdah._dispose tells these two apart.
-- Role     internal
--
-- The arrays have the same length; the last two may be empty where the queue counts by message.
--
-- A message's failures are its incidents since it came to the destination. Where the queue counts by conversation or
-- group, they are the incidents of all its messages. For a message that failed and came back (from quarantine, or by an
-- operator), only incidents since then count.
--
-- A volatile count includes only incidents since the server started. A hardened count also includes attempts that began
-- and have no incident: their consumer died, because the caller has the message now.
--
-- "+ 0" keeps PostgreSQL from the indexes of a queue's incidents and of all. A plan that was made while there were few
-- would read them all for each message.
--
-- howdah.begin_attempts may find a message that its consumer is about to take, so it does not count the attempts in
-- doubt. A queue that keeps messages past their limit and retries them delivers a rejected one again, too.
--
-- The function is VOLATILE, so that its snapshot is taken after the claim. A failure is recorded before its message is
-- released, but perhaps after the claiming statement began. A REPEATABLE READ transaction keeps its old snapshot and
-- may miss some.
create or replace function howdah._count_failures(
    p_destination_id integer, p_message_ids bigint[], p_stages smallint[], p_conversations uuid[], p_groups text[]
) returns table (message_id bigint, stage smallint, failures integer, weight integer)
language plpgsql volatile
as $$
declare
    v_by text;
    v_since timestamptz;
    v_hardened boolean;
    v_keeps boolean;
    v_doubtful uuid[];
    v_now timestamptz := howdah.now();
begin
    select d.count_by, case when d.backout_count = 'volatile' then pg_postmaster_start_time() end,
        d.backout_count = 'hardened', d.at_limit = 'move' and d.exception_mode = 'none'
    into v_by, v_since, v_hardened, v_keeps
    from howdah.destinations d where d.id = p_destination_id;
    if v_by = 'message' and not v_hardened then
        return query
        select p.message_id, p.stage, count(*)::integer,
            case when bool_or(p.rejected) and not v_keeps then 2147483647
                when bool_or(p.due_at > v_now) and howdah._waits_until(p_destination_id, p.message_id,
                    p.stage) > v_now then 2147483647
                else count(*) filter (where not p.uncounted)::integer end
        from howdah.poison_details p
        where p.message_id = any (p_message_ids) and p.destination_id + 0 = p_destination_id
          and (p.boot = v_since or v_since is null)
        group by p.message_id, p.stage;
        return;
    end if;
    v_doubtful := case when howdah._is_attempting()
        then array(select r.attempt_id from howdah._in_doubt(p_destination_id, 10) r) else '{}' end;
    return query
    with wanted as (
        select w.message_id, w.stage, case when v_by = 'conversation' then w.conversation_id end as conversation_id,
            case when v_by = 'group' then w.message_group end as message_group
        from unnest(p_message_ids, p_stages, p_conversations, p_groups) w(message_id, stage, conversation_id,
            message_group)
    )
    select f.message_id, f.stage, count(*)::integer,
        case when bool_or(f.rejected) and not v_keeps then 2147483647
            when bool_or(f.due_at > v_now) and howdah._waits_until(p_destination_id, f.message_id,
                f.stage) > v_now then 2147483647
            else count(*) filter (where not f.uncounted)::integer end
    from (
        select w.message_id, w.stage, p.rejected, p.uncounted, p.due_at
        from wanted w join howdah.poison_details p
            on p.message_id = w.message_id and p.stage = w.stage and p.destination_id + 0 = p_destination_id
        where w.conversation_id is null and w.message_group is null and (p.boot = v_since or v_since is null)
        union all
        select w.message_id, w.stage, p.rejected and p.message_id = w.message_id and p.stage = w.stage, p.uncounted,
            case when p.message_id = w.message_id and p.stage = w.stage then p.due_at end
        from wanted w cross join lateral (
            select c.* from howdah.poison_details c
            where c.conversation_id = w.conversation_id and c.destination_id + 0 = p_destination_id
            union all
            select g.* from howdah.poison_details g
            where g.message_group = w.message_group and g.destination_id + 0 = p_destination_id
        ) p
        where (p.boot = v_since or v_since is null)
          and (w.stage = 0 or p.incident_id > coalesce((
                   select max(o.incident_id) from howdah.poison_details o
                   where o.message_id = w.message_id and o.destination_id + 0 = p_destination_id
                     and o.stage < w.stage), 0)
               and not exists (select from howdah.quarantines q
                               where q.message_id = w.message_id and q.destination_id = p_destination_id
                                 and q.at >= p.recorded_at))
        union all
        select w.message_id, w.stage, false, false, null
        from wanted w join howdah.attempts a
            on a.message_id = w.message_id and a.stage = w.stage and a.destination_id = p_destination_id
        where v_hardened and a.attempt_id <> all (v_doubtful)
          and not exists (select from howdah.poison_details p where p.failure_key = a.attempt_id)
    ) f
    group by f.message_id, f.stage;
end
$$;
