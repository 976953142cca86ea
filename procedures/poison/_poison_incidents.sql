-- howdah._poison_incidents(p_destination_id, p_message): the last hundred incidents of a message in its queue, first to
-- last.
--
-- Returns  jsonb: an array.
-- Role     internal
create or replace function howdah._poison_incidents(p_destination_id integer, p_message howdah.msgs) returns jsonb
language sql volatile
as $$
    select coalesce(jsonb_agg(to_jsonb(i) order by i.incident_id), '[]')
    from (
        select p.incident_id, p.recorded_at, p.attempt, p.error_class, p.error_text, p.sqlstate, p.worker,
        p.recorded_by, p.details
        from howdah.poison_details p
        where p.message_id = p_message.message_id and p.stage = p_message.stage and p.destination_id = p_destination_id
        order by p.incident_id desc limit 100
    ) i
$$;
