-- howdah.alter_engine(options): change properties of the whole engine.
--
-- Raises   HD003 an option names an invalid destination; HD004 unknown or wrong option; HD005 rights would change above
--          READ COMMITTED; HD010 called from a maintenance command, a poison procedure is not the caller's, or the
--          caller may not change the access rules of everything; HD045 the master of changes is away.
-- Role     howdah_admin
--
-- options is a JSON object. howdah.engine_options() lists each option with its value, and docs/operations.md says what
-- each does. Options that are not named stay. Names of Sun ONE MQ, such as imq.system.max_count and
-- imq.transaction.autorollback, are also accepted, and so is WebSphere's sib.processor.blockedRetryTimeout.
--
-- Limits: max_count is the largest number of messages in all queues and subscriptions. max_size is the largest total of
-- bytes of their bodies. It is a number, or a text with the unit b, k or m, such as "10k" (10,240). max_message_bytes,
-- in the same units, is the largest body that any queue or topic takes, whatever its own option says. 0 and -1 mean no
-- limit.
--
-- yellow_threshold, orange_threshold and red_threshold are percentages of these limits. orange_delay_ms is how long a
-- sender of 50 messages waits in orange.
--
-- autocreate_queue and autocreate_topic true: the first use of a missing queue or topic creates it, with
-- autocreate_options. After autocreate_reap_seconds without use it ends (docs/auto-creation.md). Sun ONE MQ's names are
-- imq.autocreate.queue, .topic, .reaptime, and imq.autocreate.destination.maxNumMsgs, .maxBytesPerMsg and
-- .maxTotalMsgBytes.
--
-- persistent false: every message sent from now on is non-persistent, whatever its sender, queue or topic says. The
-- server's next restart loses it.
--
-- access_enabled false: no access rule holds. A role that may call a function may use it on everything. rule_set names
-- the set of access rules in force. A service may have its own.
create or replace function howdah.alter_engine(options jsonb) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_engine howdah.engine;
    v_options jsonb := options;
    v_before jsonb := howdah.engine_options();
begin
    if jsonb_typeof(options) = 'object' then
        select coalesce(jsonb_object_agg(howdah._engine_option(o.key), o.value), '{}') into v_options
        from jsonb_each(howdah._auto_limits(options)) o;
    end if;
    perform howdah._check_options('engine', v_options);
    perform howdah._check_auto_options(v_options -> 'autocreate_options') where v_options ? 'autocreate_options';
    if v_options ?| array['access_enabled', 'rule_set'] then
        perform howdah._check_rule_right(null, '*');
        perform howdah._touch_rules(null);
    end if;
    select e.* into v_engine from howdah.engine e for update;
    v_engine := jsonb_populate_record(v_engine, (
        select coalesce(jsonb_object_agg(
            case o.key when 'max_size' then 'max_bytes' else o.key end,
            case when k.kind = 'size' then to_jsonb(nullif(greatest(howdah._parse_size(o.value #>> '{}'), 0), 0))
                 when o.key = 'max_count' and o.value in ('0', '-1') then 'null'
                 else o.value end), '{}')
        from jsonb_each(v_options) o join howdah._option_kinds() k on k.owner = 'engine' and k.key = o.key));
    if not (v_engine.yellow_threshold <= v_engine.orange_threshold
        and v_engine.orange_threshold <= v_engine.red_threshold) then
        raise exception using errcode = 'HD004', message = 'thresholds must ascend from yellow over orange to red',
            hint = 'The defaults are 60, 75 and 90.';
    end if;
    update howdah.engine e set persistent = v_engine.persistent, max_count = v_engine.max_count,
        max_bytes = v_engine.max_bytes, max_message_bytes = v_engine.max_message_bytes,
        yellow_threshold = v_engine.yellow_threshold, orange_threshold = v_engine.orange_threshold,
        red_threshold = v_engine.red_threshold, orange_delay_ms = v_engine.orange_delay_ms,
        default_blocked_retry_ms = v_engine.default_blocked_retry_ms,
        redelivered_optimization = v_engine.redelivered_optimization,
        expiration_interval_seconds = v_engine.expiration_interval_seconds, autorollback = v_engine.autorollback,
        topic_rotation_seconds = v_engine.topic_rotation_seconds,
        journal_retention_days = v_engine.journal_retention_days,
        incident_retention_days = v_engine.incident_retention_days, log_level = v_engine.log_level,
        log_retention_days = v_engine.log_retention_days, archive = v_engine.archive,
        exclusive = v_engine.exclusive, instance_timeout_seconds = v_engine.instance_timeout_seconds,
        autocreate_queue = v_engine.autocreate_queue, autocreate_topic = v_engine.autocreate_topic,
        autocreate_options = v_engine.autocreate_options,
        autocreate_reap_seconds = v_engine.autocreate_reap_seconds,
        access_enabled = v_engine.access_enabled, rule_set = v_engine.rule_set;
    if v_options = '{}' or v_options ?| array['max_count', 'max_size', 'max_message_bytes', 'yellow_threshold',
        'orange_threshold', 'red_threshold'] then
        perform howdah._close_room('howdah.system_room');
        perform howdah._set_room(d.id) from howdah.destinations d
        -- ended temporary queues are used again
        where d.dropped_at is null or exists (select from howdah.temporary_queues t where t.destination_id = d.id);
    end if;
    if v_options ? 'persistent' then
        perform howdah._set_persistent();
    end if;
    perform howdah._record_change('engine', v_engine.name, 'altered', v_before, howdah.engine_options());
end
$$;
