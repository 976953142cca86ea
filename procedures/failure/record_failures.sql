-- howdah.record_failures(queue, failures, in_hand): record the failed deliveries of a batch in one call.
--
-- Returns  message_id, incident_id, attempt and outcome of each, as howdah.record_failure.
-- Raises   HD001 no such queue; HD005 failures is no JSON array of objects with a message_id; HD010 not allowed; HD022
--          as howdah.record_failure, and then none of them is recorded.
-- Role     howdah_consumer howdah_admin
--
-- failures is a JSON array of objects whose keys are the arguments of howdah.record_failure, with delay in milliseconds
-- as delay_ms. A message that is gone can also have conversation_id and message_group. Messages are taken in ascending
-- order, so that two such calls cannot deadlock.
--
-- in_hand: another transaction of the caller still holds the messages, so that nobody can take them before their
-- failures are counted. howdah.settle_failures then applies the policy; the outcome is what it will do.
create or replace function howdah.record_failures(queue text, failures jsonb, in_hand boolean default false)
returns table (message_id bigint, incident_id bigint, attempt integer, outcome text)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set enable_seqscan = off set jit = off
as $$
declare
    v_destination howdah.destinations := howdah._queue(queue, 'receive');
begin
    if failures is null or jsonb_typeof(failures) <> 'array'
       or exists (select from jsonb_array_elements(failures) e
                  where jsonb_typeof(e.value) <> 'object' or (e.value ->> 'message_id') !~ '^[0-9]{1,18}$'
                     or e.value ->> 'message_id' is null) then
        raise exception using errcode = 'HD005', message = 'failures must be a JSON array of objects with a message_id';
    end if;
    if failures @? '$[*].error_class ? (@ == "LinkRefused")' then
        perform howdah._log_event('LINK_REFUSED', v_destination.name,
            jsonb_build_object('messages', jsonb_array_length(failures)));
    end if;
    return query
    select (f.value ->> 'message_id')::bigint, r.incident_id, r.attempt, r.outcome
    from (select e.value from jsonb_array_elements(failures) e order by (e.value ->> 'message_id')::bigint) f,
        howdah._told_failure(v_destination, f.value, coalesce(in_hand, false)) r;
end
$$;
