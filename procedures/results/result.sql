-- howdah.result(queue, message_id): what became of a message that was sent to a queue.
--
-- Returns  one row. state is waiting, running (leased), done, failed, expired or unknown. value: what its handler
--          returned. failures, error_class, error_text: how often it failed so far, and the last error on record.
--          finished_at, kept_until: when it ended, and until when that is known. body: the message's own text while it
--          waits, and if it failed or expired. It is redacted as in howdah.browse, and NULL unless the caller may
--          browse the queue. errors: the last 20 failures on record, oldest first, as objects of at, class, text,
--          worker and, for who may browse, traceback.
-- Raises   HD001 no such queue; HD005 message_id is null; HD010 the caller may neither send to the queue nor browse it.
-- Role     howdah_producer howdah_browser howdah_admin
--
-- Only a queue with the option keep_results_ms knows more than waiting, running and unknown. A message in the hands of
-- an open transaction still counts as waiting. It is unknown if it was never sent, if it was purged, or if its result
-- is no longer kept.
create or replace function howdah.result(queue text, message_id bigint) returns table (
    state text, value jsonb, failures integer, error_class text, error_text text, finished_at timestamptz,
    kept_until timestamptz, body text, errors jsonb
)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_queue howdah.destinations := howdah._result_queue(queue);
    v_browses constant boolean := howdah._has_right(v_queue.id, 'browse');
    v_now constant timestamptz := howdah.now();
    v_found record;
    v_message howdah.msgs;
    v_stage smallint;
begin
    if result.message_id is null then
        raise exception using errcode = 'HD005', message = 'message_id must not be NULL';
    end if;
    -- First where messages lie, and then the results: what ends in between is then found as a result.
    select l.message as message, l.due_at is not null and exists (
        select from howdah.leased o where o.destination_id = v_queue.id and o.message_id = result.message_id
        union all
        select from howdah.parked p where p.destination_id = v_queue.id and p.message_id = result.message_id
          and p.parked_reason = 'lease') and l.due_at > v_now as leased
    into v_found from howdah._look_up(v_queue.id, result.message_id, null) l limit 1;
    if found then
        v_message := v_found.message;
        v_stage := v_message.stage;
        state := case when v_found.leased then 'running' when v_message.expires_at <= v_now then 'expired'
            else 'waiting' end;
        body := case when v_browses then howdah._result_body(v_message) end;
    else
        select r.state, r.value, r.stage, r.finished_at, r.until, case when v_browses then r.body end
        into state, value, v_stage, finished_at, kept_until, body
        from howdah.results r
        where r.destination_id = v_queue.id and r.message_id = result.message_id and r.until > v_now;
        state := coalesce(state, 'unknown');
    end if;
    if body is not null and not howdah._sees_bodies(v_queue.name) then
        body := howdah._redacted_text(convert_to(body, 'UTF8'), true, howdah._redaction_paths(v_queue.name,
            (select d.name from howdah.destinations d where d.id = v_message.origin_id), result.message_id));
    end if;
    select count(*), (array_agg(i.error_class order by i.incident_id desc))[1],
        (array_agg(i.error_text order by i.incident_id desc))[1],
        coalesce(jsonb_agg(jsonb_build_object('at', i.recorded_at, 'class', i.error_class, 'text', i.error_text,
                'worker', i.worker, 'traceback', case when v_browses then i.traceback end)
            order by i.incident_id) filter (where i.newest <= 20), '[]')
    into failures, error_class, error_text, errors
    from (select p.*, row_number() over (order by p.incident_id desc) as newest from howdah.poison_details p
          where p.message_id = result.message_id and p.stage = v_stage and p.destination_id = v_queue.id) i;
    return next;
end
$$;
