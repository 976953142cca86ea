-- howdah.maintain_log(lock_epoch): log which queues are full and how full the engine is, and delete old events.
--
-- Returns  the number of events deleted (bigint), at most 10,000; the next pass goes on.
-- Raises   HD010 called from a maintenance command; HD014 the maintenance lock is not held with this epoch.
-- Role     howdah_consumer howdah_admin
--
-- A sender who is refused rolls back, and can log nothing here. So this pass looks at what the senders' last counts
-- left in sequences. A queue is full if a count found no room for a send and nine tenths are taken; LIMIT_LEFT follows
-- once they no longer are. Old means over engine.log_retention_days. lock_epoch NULL: run by hand.
create or replace function howdah.maintain_log(lock_epoch bigint default null) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_before constant timestamptz := howdah.now()
        - (select e.log_retention_days from howdah.engine e) * interval '24 hours';
    v_count bigint;
begin
    if lock_epoch is not null then
        perform howdah._fence('maintenance', lock_epoch);
    end if;
    perform howdah._log_event(case when n.is_full then 'LIMIT_REACHED' else 'LIMIT_LEFT' end, n.name,
        jsonb_build_object('messages', n.messages, 'message_limit', n.message_limit, 'byte_limit', n.byte_limit))
    from howdah._log_full() n where n.is_full <> n.was_full;
    perform howdah._log_event('RESOURCE_STATE', null, jsonb_build_object('state', s.now, 'before', s.before),
        case when s.now = 'green' then 'INFO' end)
    from (
        select (array['green', 'yellow', 'orange', 'red'])[
                case when howdah._system_limited()
                     then coalesce(pg_sequence_last_value('howdah.system_state'), 0) & 3 else 0 end + 1] as now,
            coalesce((select e.details ->> 'state' from howdah.log_events e
                      where e.destination is null and e.event = 'RESOURCE_STATE'
                      order by e.event_id desc limit 1), 'green') as before
    ) s
    where s.now <> s.before;
    delete from howdah.log_readers r where r.read_at < v_before;
    delete from howdah.log_events e where e.event_id in (
        select o.event_id from howdah.log_events o where o.at < v_before order by o.at limit 10000);
    get diagnostics v_count = row_count;
    return v_count;
end
$$;
