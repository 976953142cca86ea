"""The columns of what administrators are shown, and the services of maintenance."""

QUEUE_COLUMNS = (
    "queue, is_system, sending_paused, receiving_paused, max_failed_deliveries, exception_mode, exception_queue,"
    " redelivery_delay_ms, blocked_retry_ms, max_message_bytes, default_priority, default_time_to_live_ms,"
    " journal_level, created_at, created_by, auto_created"
)
STATS_COLUMNS = (
    "queue_name, live, in_hand, parked, dead, enqueued, dequeued, consumed, expired, discarded, moved_out, moved_in,"
    " lost, consumers, oldest_age, exact, figures_age, audited_at, audit_verdict"
)
FIGURE_COLUMNS = (
    "queue_name, live, in_hand, parked, dead, enqueued, dequeued, failed, consumers, oldest_age, counted_at,"
    " asked_at, queue_count, sees_all"
)
OPEN_COLUMNS = (
    "kind, name, owner, application, client, state, since, age, idle_for, horizon, locks, blocks, wal_bytes, hidden,"
    " advice"
)
EXCEPTION_COLUMNS = "queue_name, dead, waiting, oldest_age"
TIME_COLUMNS = "kind, calls, mean, half, nine_tenths, ninety_nine_hundredths, since, counted_at"
GROUP_COLUMNS = (
    "message_group, messages, leased, held_up, held_until, oldest_sent_at, consumer, owned_since, looked, complete"
)
SELECTOR_COLUMNS = "used_by, name, selector, last_used_at, priorities, found_ahead"
LIMIT_COLUMNS = (
    "queue_name, max_concurrent, in_hand, leased, rate_limit, limited_for, limit_key, max_concurrent_per_key,"
    " rate_limit_per_key"
)
FLOW_COLUMNS = "at, seconds, enqueued, dequeued, failed, live, oldest_age"
STATE_COLUMNS = "state, messages, bytes, max_count, max_bytes, percent, database_bytes"
HEALTH_COLUMNS = "name, state, detail, advice, facts"
ENGINE_COLUMNS = "state, since, changed_by, transactions, leases, pids"
WORKER_COLUMNS = "worker_id, name, host, pid, sessions, queues, started_at, silent_for, in_hand, instance"
LISTENER_COLUMNS = (
    "listener_name, queue, kind, max_sessions, stop_on_failure, sequential_failures, failures, status, stopped_at,"
    " stopped_by, stopped_message_id, stop_reason, warning, created_at, created_by"
)
SERVICES = (
    "workers",
    "consumers",
    "attempts",
    "totals",
    "backlog",
    "journal",
    "dropped",
    "incidents",
    "deduplications",
    "results",
    "topics",
    "subscriptions",
    "schedules",
    "expired",
    "temporary",
    "senders",
    "autocreated",
    "log",
)
INCIDENT_COLUMNS = (
    "incident_id, queue_name, message, stage, attempt, outcome, error_class, error_text, sqlstate, traceback, worker,"
    " duration_ms, conversation_id, details, recorded_at, recorded_by, fingerprint"
)
POISON_COLUMNS = (
    "message_id, exception_queue, origin_queue, dead_at, dead_reason, failures, last_incident_id, last_error_class,"
    " last_error_text, last_sqlstate, last_fingerprint, priority, sent_at, content_type, headers, due_at, position"
)
POISON_QUEUE_COLUMNS = (
    "exception_queue, last_fingerprint, dead, first_dead_at, last_dead_at, first_position, looked, complete"
)
CAUSE_COLUMNS = (
    "fingerprint, incidents, messages, dead, first_at, last_at, error_class, sqlstate, sample_text, sample_queue,"
    " sample_message, sample_incident, looked, looked_from, complete"
)
ACT_COLUMNS = "act_id, at, actor, act, queue_name, other_queue, reason, message_ids"
RULE_COLUMNS = "resource, name, operation, allow, kind, principals"
RULE_SET_COLUMNS = "name, rules, in_force, changed_at, created_at, created_by"
EXPLANATION_COLUMNS = "allowed, rule, principal, rule_set, why"
ALIAS_COLUMNS = "alias, target, default_reliability, max_reliability, producer_may_override, created_at, created_by"

TOPIC_COLUMNS = (
    "topic, sending_paused, subscriptions, durable_subscriptions, bridges, published, discarded, stored, refused_for,"
    " created_at, created_by, auto_created"
)
SUBSCRIPTION_COLUMNS = (
    "subscription, topic_name, client_id, name, durable, shared, no_local, prioritized, selector, paused, behind,"
    " behind_for,"
    " delivered, set_aside, silent_for, created_at, created_by"
)
TRANSACTION_COLUMNS = (
    "gid, transaction, prepared_at, owner, age, ours, before_start, rolls_back, commit_with, rollback_with"
)
KEPT_COLUMNS = (
    "message_id, kept_at, kept_until, body, bytes, content_type, headers, priority, correlation_id, reply_to,"
    " message_type, conversation_id, delivery_mode, sent_at, expires_at, delivery_count, origin_queue, dead_reason,"
    " dead_at, reliability"
)
