-- howdah.record_failures_as(listener, failures, in_hand): record failed deliveries of a listener, which may stop it.
--
-- Returns  message_id, incident_id, attempt and outcome of each, as howdah.record_failures, and the listener's status
--          afterwards.
-- Raises   HD001 no such queue; HD005 failures is no JSON array of objects with a message_id; HD010 not allowed; HD020
--          no such listener; HD022 as howdah.record_failure.
-- Role     howdah_consumer howdah_admin
--
-- Each failure adds 1 to a counter that all sessions of all processes share. At greatest(sequential_failures, 1) the
-- listener stops, unless stop_on_failure is false. A failure whose failure_key was recorded before does not count
-- again. A failure that does not count for its message does not count for the listener, either.
create or replace function howdah.record_failures_as(listener text, failures jsonb, in_hand boolean default false)
returns table (message_id bigint, incident_id bigint, attempt integer, outcome text, listener_status text)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_listener howdah.listeners := howdah._listener(listener, 'receive');
    v_last bigint;
begin
    -- before any message's lock, so that two such calls cannot deadlock
    perform from howdah.listeners l where l.id = v_listener.id for no key update;
    v_last := coalesce(pg_sequence_last_value(pg_get_serial_sequence('howdah.poison_details', 'incident_id')::regclass),
        0);
    return query
    with recorded as materialized (
        select r.*, row_number() over () as number
        from howdah.record_failures(howdah._destination_name(v_listener.destination_id), failures, in_hand) r
    ), counted as materialized (
        select howdah._listener_failed(v_listener.id, cardinality(c.ids), c.ids[cardinality(c.ids)]) as status
        from (select howdah._counted_failures(array_agg(r.incident_id)) as ids from recorded r
            where r.incident_id > v_last) c
    )
    select r.message_id, r.incident_id, r.attempt, r.outcome, c.status from recorded r, counted c order by r.number;
end
$$;
