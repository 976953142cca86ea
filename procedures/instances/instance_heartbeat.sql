-- howdah.instance_heartbeat(instance_id): report that an instance lives, and lead it on.
--
-- Returns  a JSON object. state and waits_for (master, exclusive or null) say where it stands. epoch is that of the
--          exclusive lease, or null. ending: an administrator told it to end. reset: it lost its place in the record.
--          unread and missed count changes. timeout is in seconds.
-- Raises   HD010 another role registered it; HD015 it is not registered, or no longer; HD045 the master of changes is
--          away.
-- Role     howdah_consumer howdah_admin
--
-- States: INITIALIZING while it waits for the master of changes or for the exclusive lease, then RECOVERING, and at the
-- next call RUNNING or QUIESCED. An instance receives only while it is RUNNING. Plain SQL receives in any case.
--
-- It also removes instances that have been silent for engine.instance_timeout_seconds.
create or replace function howdah.instance_heartbeat(instance_id uuid) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_instance howdah.instances;
    v_engine howdah.engine;
    v_position howdah.instance_positions;
    v_waits text;
    v_state text;
    v_reset boolean := false;
begin
    perform from howdah.instances i where i.instance_id = instance_heartbeat.instance_id for update;
    v_instance := howdah._instance(instance_id);
    perform howdah._forget_instances(v_instance.instance_id);
    select e.* into v_engine from howdah.engine e;
    v_waits := howdah._await_turn(v_instance);
    if v_waits is not null then
        v_state := 'INITIALIZING';
    elsif v_instance.state = 'INITIALIZING' then
        v_state := 'RECOVERING';
    else
        if v_instance.state = 'RECOVERING' then
            perform howdah._recover_instance();
        end if;
        v_state := case when v_instance.quiesced_by is null then 'RUNNING' else 'QUIESCED' end;
    end if;
    update howdah.instances i set state = v_state, waits_for = v_waits, heartbeat_at = howdah.now()
    where i.instance_id = v_instance.instance_id;
    select p.* into v_position from howdah.instance_positions p where p.name = v_instance.name;
    if v_position.record_id is distinct from v_engine.record_id
       or pg_sequence_last_value('howdah.changes_dropped'::regclass)
           >= pg_snapshot_xmin(v_position.read)::text::bigint then
        v_reset := howdah._position_at(v_instance.name, true);
        select p.* into v_position from howdah.instance_positions p where p.name = v_instance.name;
    end if;
    return jsonb_build_object('state', v_state, 'waits_for', v_waits, 'ending', v_instance.ending, 'reset', v_reset,
        'unread', howdah._changes_unread(v_position), 'missed', v_position.missed,
        'timeout', v_engine.instance_timeout_seconds,
        'epoch', case when v_engine.exclusive and v_waits is null then (
            select l.epoch from howdah.lock l
            where l.name = 'exclusive' and l.holder = v_instance.instance_id::text) end);
end
$$;
