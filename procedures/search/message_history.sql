-- howdah.message_history(queue, message_id): all that is on record of one message in one queue, in one list by time.
--
-- Returns  events of the journal, failed deliveries (incident) and acts of operators (act), the oldest first.
--          Then there is always one row without a time. It has the number of rows of the journal looked at. complete:
--          it looked at all rows of journal and acts that can be of this message, as far as retention left them.
-- Raises   HD001 no such queue; HD010 not allowed; HD037 on a standby.
-- Role     howdah_browser howdah_consumer howdah_admin howdah_auditor
--
-- details has what is known of an incident: error_text, traceback, worker and so on. Other queues are named only where
-- the caller may browse them. A message that is gone does not say when it was sent. So it looks at the journal from a
-- day before the first failure on, or at the last day. Then it looks at what is older, up to 200,000 rows in all.
create or replace function howdah.message_history(queue text, message_id bigint) returns table (
    at timestamptz, source text, event text, queue_name text, other_queue text, actor text, reason text,
    details jsonb, looked bigint, complete boolean
)
language plpgsql stable security definer set search_path = pg_catalog, howdah, pg_temp
    set plan_cache_mode = force_custom_plan set jit = off
as $$
declare
    v_id integer := (howdah._destination(queue, 'browse')).id;
    v_number bigint := message_id;
    v_most_acts constant integer := 10000;
    v_sent_at timestamptz;
    v_from timestamptz;
    v_acts_from timestamptz;
begin
    select min((q.message).sent_at) into v_sent_at from howdah._whole_message(v_number, queue) q;
    v_from := coalesce(v_sent_at, (select min(p.recorded_at) from howdah.poison_details p
        where p.message_id = v_number offset 0) - interval '1 day', howdah.now() - interval '1 day');
    v_acts_from := (select a.at from howdah.operator_acts a order by a.act_id desc offset v_most_acts - 1 limit 1);
    return query
    select h.at, h.source, h.event, n.name, n.other, h.actor, h.reason, h.details, h.looked, h.complete
    from (
        select j.at, case when j.at is not null then 'journal' end as source, j.event, j.destination_id,
            j.other_destination_id, null::text as actor, j.reason, null::jsonb as details, j.looked,
            j.complete and coalesce(v_acts_from < v_sent_at, v_acts_from is null) as complete
        from howdah._history_of_journal(v_id, v_number, v_from, v_sent_at is null) j
        union all
        select p.recorded_at, 'incident', p.outcome, p.destination_id, null, p.recorded_by, p.error_class,
            jsonb_build_object('incident_id', p.incident_id, 'attempt', p.attempt, 'stage', p.stage, 'error_text',
                p.error_text, 'sqlstate', p.sqlstate, 'traceback', p.traceback, 'worker', p.worker, 'duration_ms',
                p.duration_ms, 'cause', p.fingerprint, 'details', p.details), null, null
        from howdah.poison_details p where p.message_id = v_number
        union all
        select a.at, 'act', a.act, a.destination_id, a.other_destination_id, a.actor, a.reason, null, null, null
        from (select c.* from howdah.operator_acts c order by c.act_id desc limit v_most_acts) a
        where v_number = any (a.message_ids)
    ) h
    cross join lateral (  -- asked for these rows alone, not for each queue
        select (select d.name from howdah.destinations d where d.id = h.destination_id
            and howdah._has_right(h.destination_id, 'browse')) as name,
            (select o.name from howdah.destinations o where o.id = h.other_destination_id
            and howdah._has_right(h.other_destination_id, 'browse')) as other offset 0
    ) n
    where h.at is null or n.name is not null
    order by h.at nulls last, h.source desc;
end
$$;
