-- howdah._count_failures(p_destination_id, p_message_ids, p_stages, p_conversations, p_groups): failures that count against messages the caller has claimed.
--
-- Returns  message_id, stage, the number of failures and the number that the limit is compared with, which is above any limit if the
--          message was rejected, or waits for the delay of its last failure; only messages that have any. howdah._dispose tells these apart.
-- Role     internal
--
-- The arrays are of equal length; the last two may be empty where the queue counts by message. Failures are incidents of the message since it came to the destination, or, where the queue counts
-- by conversation or group, of all messages of that; for one that failed and came back (from quarantine, or by an operator) those
-- since then. A volatile count knows those since the server's start only. A hardened one also
-- counts the attempts that were begun and have no incident: their consumer died, for the caller has the message. Only who looks for
-- messages to begin attempts at may meet one whose consumer is about to take it, and does not count the attempts in doubt. A queue that keeps
-- messages past their limit and retries them delivers a rejected one again, too.
-- VOLATILE, so that it looks with a snapshot taken after the claim: a failure is recorded before its message is let go, but
-- perhaps after the claiming statement began. A REPEATABLE READ transaction keeps its old snapshot and may miss some.
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
    select d.count_by, case when d.backout_count = 'volatile' then pg_postmaster_start_time() end, d.backout_count = 'hardened',
        d.at_limit = 'move' and d.exception_mode = 'none'
    into v_by, v_since, v_hardened, v_keeps
    from howdah.destinations d where d.id = p_destination_id;
    if v_by = 'message' and not v_hardened then
        return query
        select p.message_id, p.stage, count(*)::integer,
            case when bool_or(p.rejected) and not v_keeps then 2147483647
                when bool_or(p.due_at > v_now) and howdah._waits_until(p_destination_id, p.message_id, p.stage) > v_now then 2147483647
                else count(*) filter (where not p.uncounted)::integer end
        from howdah.poison_details p
        where p.message_id = any (p_message_ids) and p.destination_id = p_destination_id and (p.boot = v_since or v_since is null)
        group by p.message_id, p.stage;
        return;
    end if;
    v_doubtful := case when howdah._is_attempting()
        then array(select r.attempt_id from howdah._in_doubt(p_destination_id, 10) r) else '{}' end;
    return query
    with wanted as (
        select w.message_id, w.stage, case when v_by = 'conversation' then w.conversation_id end as conversation_id,
            case when v_by = 'group' then w.message_group end as message_group
        from unnest(p_message_ids, p_stages, p_conversations, p_groups) w(message_id, stage, conversation_id, message_group)
    )
    select f.message_id, f.stage, count(*)::integer,
        case when bool_or(f.rejected) and not v_keeps then 2147483647
            when bool_or(f.due_at > v_now) and howdah._waits_until(p_destination_id, f.message_id, f.stage) > v_now then 2147483647
            else count(*) filter (where not f.uncounted)::integer end
    from (
        select w.message_id, w.stage, p.rejected, p.uncounted, p.due_at
        from wanted w join howdah.poison_details p
            on p.message_id = w.message_id and p.stage = w.stage and p.destination_id = p_destination_id
        where w.conversation_id is null and w.message_group is null and (p.boot = v_since or v_since is null)
        union all
        select w.message_id, w.stage, p.rejected and p.message_id = w.message_id and p.stage = w.stage, p.uncounted,
            case when p.message_id = w.message_id and p.stage = w.stage then p.due_at end
        from wanted w cross join lateral (
            select c.* from howdah.poison_details c where c.conversation_id = w.conversation_id and c.destination_id = p_destination_id
            union all
            select g.* from howdah.poison_details g where g.message_group = w.message_group and g.destination_id = p_destination_id
        ) p
        where (p.boot = v_since or v_since is null)
          and (w.stage = 0 or p.incident_id > coalesce((
                   select max(o.incident_id) from howdah.poison_details o
                   where o.message_id = w.message_id and o.destination_id = p_destination_id and o.stage < w.stage), 0)
               and not exists (select from howdah.quarantines q
                               where q.message_id = w.message_id and q.destination_id = p_destination_id and q.at >= p.recorded_at))
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

-- howdah._waits_until(p_destination_id, p_message_id, p_stage): when the delay of a message's last failure ends.
--
-- Returns  timestamptz; NULL: that failure asked for none, or an operator has had the message retried since.
-- Role     internal
--
-- A delay is recorded before the message is let go, and the message is parked after that: who receives it in between parks it.
create or replace function howdah._waits_until(p_destination_id integer, p_message_id bigint, p_stage smallint) returns timestamptz
language sql volatile
as $$
    select l.due_at
    from (select p.incident_id, p.due_at from howdah.poison_details p
          where p.message_id = p_message_id and p.stage = p_stage and p.destination_id = p_destination_id
          order by p.incident_id desc limit 1) l
    where l.due_at is not null and not exists (
        select from howdah.operator_acts a
        where a.destination_id = p_destination_id and a.act = 'retried' and a.incident_id >= l.incident_id
          and p_message_id = any (a.message_ids))
$$;

-- howdah._failures(p_destination_id, p_message_id, p_stage, p_conversation_id, p_group): failures that count against one message.
--
-- Returns  integer.
-- Role     internal
create or replace function howdah._failures(
    p_destination_id integer, p_message_id bigint, p_stage smallint, p_conversation_id uuid, p_group text
) returns integer
language sql volatile
as $$
    select coalesce(max(f.failures), 0)
    from howdah._count_failures(p_destination_id, array[p_message_id], array[p_stage], array[p_conversation_id], array[p_group]) f
    where f.stage = p_stage
$$;

-- howdah._standing(p_destination_id, p_message_id, p_stage, p_conversation_id, p_group, p_failure_key): what the incidents recorded for a message amount to.
--
-- Returns  one row: the number of failures; the number that the limit is compared with, which is above any limit if the message was
--          rejected; the delay asked for by the last incident (NULL: the queue's), and when that ends (NULL: none was recorded).
-- Role     internal
--
-- Of attempts in doubt p_failure_key counts, which is being recorded, and for the number of failures those begun before it.
create or replace function howdah._standing(
    p_destination_id integer, p_message_id bigint, p_stage smallint, p_conversation_id uuid, p_group text, p_failure_key uuid
) returns table (failures integer, weight integer, delay_ms bigint, due_at timestamptz)
language sql volatile
as $$
    select greatest(c.failures - d.later, 0), case when i.rejected then 2147483647 else greatest(c.failures - i.uncounted - d.others, 0) end, i.delay_ms, i.due_at
    from (select howdah._failures(p_destination_id, p_message_id, p_stage, p_conversation_id, p_group) as failures) c
    cross join lateral (
        select bool_or(p.rejected) as rejected, least(count(*) filter (where p.uncounted), c.failures)::integer as uncounted, (array_agg(p.delay_ms order by p.incident_id desc))[1] as delay_ms,
            (array_agg(p.due_at order by p.incident_id desc))[1] as due_at
        from howdah.poison_details p
        where p.destination_id = p_destination_id and p.message_id = p_message_id and p.stage = p_stage) i
    cross join lateral (
        select count(*)::integer as others, count(*) filter (where k.begun_at is null or (a.begun_at, a.attempt_id) > (k.begun_at, p_failure_key))::integer as later
        from howdah._in_doubt(p_destination_id, 10) a
        left join howdah.attempts k on k.attempt_id = p_failure_key and k.message_id = p_message_id
        where a.message_id = p_message_id and a.stage = p_stage and a.attempt_id is distinct from p_failure_key
          and (select d.backout_count = 'hardened' from howdah.destinations d where d.id = p_destination_id)) d
$$;

-- howdah._why(p_weight): the reason of death of a message whose incidents amount to so much.
--
-- Returns  text.
-- Role     internal
create or replace function howdah._why(p_weight integer) returns text
language sql immutable
as $$ select case when p_weight = 2147483647 then 'rejected by its handler' else 'failed deliveries reached the limit' end $$;

-- howdah._is_unblamed(p_message_id, p_group): whether surely no failure counts against a message.
--
-- Returns  boolean; false: look more closely. Those of a group or conversation may count, so a message of one is looked at.
-- Role     internal
create or replace function howdah._is_unblamed(p_message_id bigint, p_group text) returns boolean
language plpgsql volatile
as $$
begin
    return p_group is null and not exists (select from howdah.poison_details p where p.message_id = p_message_id);
end
$$;
