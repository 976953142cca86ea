-- howdah._standing(p_destination_id, p_message_id, p_stage, p_conversation_id, p_group, p_failure_key): the totals of
-- the incidents recorded for a message.
--
-- Returns  one row: the number of failures, the number that the limit is compared with, the delay and its end. The
--          second number is above any limit if the message was rejected. The delay is what the last incident asked for
--          (NULL: the queue's). Its end is NULL if none was recorded.
-- Role     internal
--
-- The attempt p_failure_key counts, though it is in doubt: it is being recorded. For the number of failures, those
-- begun before it count, too. "+ 0" is as in howdah._count_failures.
create or replace function howdah._standing(
    p_destination_id integer, p_message_id bigint, p_stage smallint, p_conversation_id uuid, p_group text,
    p_failure_key uuid
) returns table (failures integer, weight integer, delay_ms bigint, due_at timestamptz)
language plpgsql volatile
as $$
declare
    v_count record;
    v_own record;
    v_doubt record;
begin
    select d.backout_count = 'hardened' as hardened, d.count_by = 'message' and d.backout_count <> 'hardened' as plain,
        case when d.backout_count = 'volatile' then pg_postmaster_start_time() end as since
    into v_count from howdah.destinations d where d.id = p_destination_id;
    select (count(*) filter (where p.boot = v_count.since or v_count.since is null))::integer as failures,
        bool_or(p.rejected) as rejected,
        (count(*) filter (where p.uncounted))::integer as uncounted,
        (array_agg(p.delay_ms order by p.incident_id + 0 desc))[1] as delay_ms,
        (array_agg(p.due_at order by p.incident_id + 0 desc))[1] as due_at
    into v_own from howdah.poison_details p
    where p.message_id = p_message_id and p.stage = p_stage and p.destination_id + 0 = p_destination_id;
    delay_ms := v_own.delay_ms;
    due_at := v_own.due_at;
    failures := v_own.failures;
    if not v_count.plain then
        failures := howdah._failures(p_destination_id, p_message_id, p_stage, p_conversation_id, p_group);
    end if;
    weight := failures - least(v_own.uncounted, failures);
    if v_count.hardened then
        select count(*)::integer as others, (count(*) filter (
            where k.begun_at is null or (a.begun_at, a.attempt_id) > (k.begun_at, p_failure_key)))::integer as later
        into v_doubt from howdah._in_doubt(p_destination_id, 10) a
        left join howdah.attempts k on k.attempt_id = p_failure_key and k.message_id = p_message_id
        where a.message_id = p_message_id and a.stage = p_stage and a.attempt_id is distinct from p_failure_key;
        failures := greatest(failures - v_doubt.later, 0);
        weight := greatest(weight - v_doubt.others, 0);
    end if;
    if v_own.rejected then
        weight := 2147483647;
    end if;
    return next;
end
$$;
