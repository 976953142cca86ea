-- howdah.resume(queue, sending, receiving): resume sending to a queue, receiving from it, or both (the default).
--
-- Raises   HD001 no such queue; HD010 not allowed; HD012 it belongs to the engine; HD045 the master of changes is away.
-- Role     howdah_admin
--
-- false leaves that side as it is. Resuming receiving also enables a queue that failures in a row disabled, and
-- restarts their count. In an engine that is paused, quiesced or stopped, the queue then waits for that.
--
-- The act is in howdah.list_acts, with the setting howdah.reason.
create or replace function howdah.resume(
    queue text, sending boolean default true, receiving boolean default true
) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_destination howdah.destinations := howdah._own_queue(queue);
    v_before jsonb := howdah._properties(v_destination.kind, queue);
begin
    perform howdah._hold_limits();
    update howdah.destinations d
    set own_sending_paused = d.own_sending_paused and not coalesce(sending, false),
        own_receiving_paused = d.own_receiving_paused and not coalesce(receiving, false),
        sending_paused = s.halted or d.own_sending_paused and not coalesce(sending, false),
        receiving_paused = s.halted or d.own_receiving_paused and not coalesce(receiving, false),
        disabled_at = case when receiving is not true then d.disabled_at end,
        streak_from = case when receiving is true and d.disabled_at is not null
            then coalesce(pg_sequence_last_value(pg_get_serial_sequence('howdah.poison_details',
                'incident_id')::regclass), 0)
            else d.streak_from end
    from (select howdah._engine_state() <> 'running' as halted) s
    where d.id = v_destination.id;
    if howdah._properties(v_destination.kind, queue) is distinct from v_before
       or receiving and v_destination.disabled_at is not null then
        perform howdah._record_change(v_destination.kind, queue, 'altered', v_before,
            howdah._properties(v_destination.kind, queue));
        perform howdah._record_act('resumed', v_destination.id, '{}', null, howdah._why(
            case when receiving is not true then 'sending' when sending is not true then 'receiving' end));
    end if;
end
$$;
