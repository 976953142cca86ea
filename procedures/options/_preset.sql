-- howdah._preset(p_name): the policy of one of the five systems, or Howdah's own, as options.
--
-- Returns  jsonb, every option of a policy.
-- Role     internal
--
-- The presets follow WebSphere's destination properties and IBM MQ's queue attributes (BOTHRESH 0, no BOQNAME, HARDENBO
-- NO on z/OS). Service Broker's has its five rollbacks, and "count > threshold" by conversation from its custom
-- algorithm. ActiveMQ's follows its RedeliveryPolicy and DeadLetterStrategy. Sun ONE MQ's table 2-9 has limits of
-- destinations that create themselves; for failures, sun_mq equals howdah.
create or replace function howdah._preset(p_name text) returns jsonb
language plpgsql immutable
as $$
declare
    v_policy constant jsonb := '{
        "max_failed_deliveries": 5, "limit_comparison": "reached", "count_by": "message", "decided_at": "failure",
        "backout_count": "recorded",
        "redelivery_delay_ms": 0, "initial_redelivery_delay_ms": null, "use_exponential_backoff": false,
        "backoff_multiplier": 5,
        "max_redelivery_delay_ms": -1, "use_collision_avoidance": false, "collision_avoidance_factor": 0.15,
        "override_blocked_retry": false, "blocked_retry_ms": -1, "strict_order": false,
        "at_limit": "move", "exception_mode": "system", "exception_queue": null, "exception_fallback": "system",
        "exception_prefix": "ActiveMQ.DLQ.Queue.", "check_rights": false, "process_non_persistent": true,
        "process_expired": false,
        "log_table": false, "log_queue": null, "quarantine_ms": 3600000, "quarantine_times": 1, "error_reply": false,
        "notify_admin": false,
        "notify_events": false, "clean_incidents": false, "poison_handling": true, "disable_after": 0}';
begin
    return v_policy || case p_name
        when 'howdah' then jsonb '{}'
        when 'websphere' then jsonb '{}'
        when 'websphere_mq' then jsonb '{"max_failed_deliveries": 0, "decided_at": "receive",
            "exception_mode": "dead_letter",
            "exception_fallback": "dead_letter", "check_rights": true, "backout_count": "volatile"}'
        when 'service_broker' then jsonb '{"limit_comparison": "exceeded", "count_by": "conversation",
            "decided_at": "receive",
            "at_limit": "end_conversation", "disable_after": 5}'
        when 'activemq' then jsonb '{"max_failed_deliveries": 6, "limit_comparison": "exceeded",
            "initial_redelivery_delay_ms": 1000,
            "redelivery_delay_ms": 1000, "exception_mode": "shared", "process_non_persistent": false,
            "process_expired": true}'
        when 'sun_mq' then jsonb '{"message_limit": 100000, "byte_limit": 10485760, "max_message_bytes": 10240}'
        else null
    end;
end
$$;
