-- howdah._standing(p_destination_id, p_message_id, p_stage, p_conversation_id, p_group, p_failure_key): the totals of
-- the incidents recorded for a message.
--
-- Returns  one row: the number of failures, the number that the limit is compared with, the delay and its end. The
--          second number is above any limit if the message was rejected. The delay is what the last incident asked for
--          (NULL: the queue's). Its end is NULL if none was recorded.
-- Role     internal
--
-- The attempt p_failure_key counts, though it is in doubt: it is being recorded. For the number of failures, those
-- begun before it count, too.
create or replace function howdah._standing(
    p_destination_id integer, p_message_id bigint, p_stage smallint, p_conversation_id uuid, p_group text,
    p_failure_key uuid
) returns table (failures integer, weight integer, delay_ms bigint, due_at timestamptz)
language sql volatile
as $$
    select greatest(c.failures - d.later, 0), case when i.rejected then 2147483647
        else greatest(c.failures - i.uncounted - d.others, 0) end, i.delay_ms, i.due_at
    from (select howdah._failures(p_destination_id, p_message_id, p_stage, p_conversation_id, p_group) as failures) c
    cross join lateral (
        select bool_or(p.rejected) as rejected, least(count(*) filter (where p.uncounted),
            c.failures)::integer as uncounted, (array_agg(p.delay_ms order by p.incident_id desc))[1] as delay_ms,
            (array_agg(p.due_at order by p.incident_id desc))[1] as due_at
        from howdah.poison_details p
        where p.destination_id = p_destination_id and p.message_id = p_message_id and p.stage = p_stage) i
    cross join lateral (
        select count(*)::integer as others, count(*)
        filter (where k.begun_at is null or (a.begun_at, a.attempt_id) > (k.begun_at, p_failure_key))::integer as later
        from howdah._in_doubt(p_destination_id, 10) a
        left join howdah.attempts k on k.attempt_id = p_failure_key and k.message_id = p_message_id
        where a.message_id = p_message_id and a.stage = p_stage and a.attempt_id is distinct from p_failure_key
          and (select d.backout_count = 'hardened' from howdah.destinations d where d.id = p_destination_id)) d
$$;
