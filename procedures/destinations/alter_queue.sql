-- howdah.alter_queue(queue, options): change options of a queue, with effect from the next call that needs them.
--
-- Raises   HD001 no such queue; HD002 no room for a dead-letter queue that the options need; HD003 bad exception_queue;
--          HD004 unknown or wrong option; HD010 not allowed; HD012 the queue belongs to the engine; HD045 the master of
--          changes is away.
-- Role     howdah_admin
create or replace function howdah.alter_queue(queue text, options jsonb) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_new howdah.destinations;
    v_before jsonb;
begin
    perform howdah._hold_limits();
    perform from howdah.destinations d where d.name = queue and d.dropped_at is null for no key update;
    v_new := howdah._own_queue(queue);
    if v_new.kind = 'topic' then
        raise exception using errcode = 'HD001', message = format('%s is a topic, not a queue', quote_literal(queue)),
            hint = 'See howdah.alter_topic.';
    elsif v_new.kind = 'subscription' then
        perform howdah._check_subscription_options(case
            when jsonb_typeof(options) = 'object' then options - 'prioritized' end);
    end if;
    v_before := howdah._properties(v_new.kind, queue);
    v_new.persistent := v_new.own_persistent;
    v_new := howdah._with_options(v_new, options);
    perform howdah._check_targets(options);
    perform howdah._ensure_targets(v_new);
    perform howdah._adopt(v_new.id);
    v_new.own_persistent := v_new.persistent;
    v_new.persistent := v_new.persistent and (select e.persistent from howdah.engine e);
    update howdah.destinations d set preset = v_new.preset, max_failed_deliveries = v_new.max_failed_deliveries,
        limit_comparison = v_new.limit_comparison, count_by = v_new.count_by, decided_at = v_new.decided_at,
        backout_count = v_new.backout_count, dispose_at = v_new.dispose_at,
        redelivery_delay_ms = v_new.redelivery_delay_ms,
        initial_redelivery_delay_ms = v_new.initial_redelivery_delay_ms,
        use_exponential_backoff = v_new.use_exponential_backoff, backoff_multiplier = v_new.backoff_multiplier,
        max_redelivery_delay_ms = v_new.max_redelivery_delay_ms,
        use_collision_avoidance = v_new.use_collision_avoidance,
        collision_avoidance_factor = v_new.collision_avoidance_factor,
        override_blocked_retry = v_new.override_blocked_retry, blocked_retry_ms = v_new.blocked_retry_ms,
        strict_order = v_new.strict_order, at_limit = v_new.at_limit, exception_mode = v_new.exception_mode,
        exception_queue = v_new.exception_queue, exception_fallback = v_new.exception_fallback,
        exception_prefix = v_new.exception_prefix, check_rights = v_new.check_rights,
        process_non_persistent = v_new.process_non_persistent, process_expired = v_new.process_expired,
        log_table = v_new.log_table, log_queue = v_new.log_queue, poison_procedure = v_new.poison_procedure,
        poison_procedure_owner = v_new.poison_procedure_owner, quarantine_ms = v_new.quarantine_ms,
        quarantine_times = v_new.quarantine_times, error_reply = v_new.error_reply,
        notify_admin = v_new.notify_admin, notify_events = v_new.notify_events, clean_incidents = v_new.clean_incidents,
        poison_handling = v_new.poison_handling, disable_after = v_new.disable_after,
        own_max_message_bytes = v_new.own_max_message_bytes, message_limit = v_new.message_limit,
        byte_limit = v_new.byte_limit, limit_behaviour = v_new.limit_behaviour, send_timeout_ms = v_new.send_timeout_ms,
        deduplication_window_ms = v_new.deduplication_window_ms, keep_results_ms = v_new.keep_results_ms,
        default_priority = v_new.default_priority,
        default_time_to_live_ms = v_new.default_time_to_live_ms, journal_level = v_new.journal_level,
        journal_level_at = v_new.journal_level_at, persistent = v_new.persistent, own_persistent = v_new.own_persistent,
        default_reliability = v_new.default_reliability, max_reliability = v_new.max_reliability,
        producer_may_override = v_new.producer_may_override,
        exception_discard_reliability = v_new.exception_discard_reliability,
        discard_with_sender = v_new.discard_with_sender, stamp_user = v_new.stamp_user,
        keep_bodies_ms = v_new.keep_bodies_ms, last_value_key = v_new.last_value_key, contract = v_new.contract,
        message_groups = v_new.message_groups, delivery_policy = v_new.delivery_policy,
        limited = v_new.limited, max_concurrent = v_new.max_concurrent, rate_limit = v_new.rate_limit,
        limit_key = v_new.limit_key, max_concurrent_per_key = v_new.max_concurrent_per_key,
        rate_limit_per_key = v_new.rate_limit_per_key, rate_keys = v_new.rate_keys,
        groups_at = case when (v_new.message_groups, v_new.delivery_policy) = (d.message_groups, d.delivery_policy)
            then d.groups_at else howdah.now() end,
        main_rank = case when v_new.persistent = d.persistent then d.main_rank
            when v_new.persistent then 9 - v_new.default_priority else -1 end
    where d.id = v_new.id;
    perform howdah._copy_rights_of(array[v_new.id]) where options ?| '{stamp_user,contract}';
    perform howdah._set_room(v_new.id);
    if v_new.main_rank >= 0 then
        -- messages there are still found if the queue has no main lane now
        perform howdah._open_lane(v_new.id, v_new.main_rank, 2);
    end if;
    perform howdah._note_special(v_new);
    -- A key's rate is looked for in other cells from now on, so nobody knows how far it is spent.
    perform setval(c.mark, howdah._microseconds(howdah.now())) from howdah.rate_cells c
    where c.destination_id = v_new.id and c.number = 0 and options ? 'rate_keys';
    perform howdah._open_lane(v_new.id, 9 - v_new.default_priority, 2);
    perform howdah._record_change(v_new.kind, queue, 'altered', v_before, howdah._properties(v_new.kind, queue));
end
$$;
