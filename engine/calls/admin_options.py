"""The options of queues, topics, subscriptions, listeners, the engine and its tables, by name and type.

The database decides what it takes: ``howdah._option_kinds()``, to which a test holds these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict

Level = Literal[
    "BEST_EFFORT_NONPERSISTENT",
    "EXPRESS_NONPERSISTENT",
    "RELIABLE_NONPERSISTENT",
    "RELIABLE_PERSISTENT",
    "ASSURED_PERSISTENT",
]


class AliasOptions(TypedDict, total=False):
    """Options of an alias; docs/reliability.md explains them. None: as the target's."""

    default_reliability: Level | None
    max_reliability: Level | None
    producer_may_override: bool | None


class QueueOptions(TypedDict, total=False):
    """Options of a queue; docs/poison.md, docs/limits.md and docs/handler-limits.md explain them."""

    preset: Literal["howdah", "websphere", "websphere_mq", "service_broker", "activemq", "sun_mq"]
    max_failed_deliveries: int
    limit_comparison: Literal["reached", "exceeded"]
    count_by: Literal["message", "conversation", "group"]
    decided_at: Literal["failure", "receive"]
    backout_count: Literal["volatile", "recorded", "hardened"]
    redelivery_delay_ms: int
    initial_redelivery_delay_ms: int | None
    use_exponential_backoff: bool
    backoff_multiplier: float
    max_redelivery_delay_ms: int
    use_collision_avoidance: bool
    collision_avoidance_factor: float
    override_blocked_retry: bool
    blocked_retry_ms: int
    strict_order: bool
    at_limit: Literal["move", "discard", "quarantine", "end_conversation"]
    exception_mode: Literal["system", "named", "dead_letter", "shared", "individual", "none"]
    exception_queue: str | None
    exception_fallback: Literal["system", "dead_letter"]
    exception_prefix: str
    exception_discard_reliability: Level | None
    check_rights: bool
    process_non_persistent: bool
    process_expired: bool
    log_table: bool
    log_queue: str | None
    poison_procedure: str | None
    quarantine_ms: int
    quarantine_times: int
    error_reply: bool
    notify_admin: bool
    notify_events: bool
    clean_incidents: bool
    poison_handling: bool
    disable_after: int
    max_message_bytes: int
    message_limit: int | None
    byte_limit: int | None
    limit_behaviour: Literal["reject", "remove_oldest", "remove_lowest_priority", "block"]
    send_timeout_ms: int
    deduplication_window_ms: int
    keep_results_ms: int | None
    default_priority: int
    default_time_to_live_ms: int | None
    journal_level: Literal["off", "exits", "full"]
    persistent: bool
    default_reliability: Level
    max_reliability: Level
    producer_may_override: bool
    discard_with_sender: bool
    stamp_user: bool
    keep_bodies_ms: int | None
    last_value_key: str | None
    contract: Mapping[str, object] | bool | None
    message_groups: Literal["none", "transaction", "sticky"]
    delivery_policy: Literal["shared", "single", "failover", "round_robin"]
    max_concurrent: int | None
    rate_limit: str | None
    limit_key: str | None
    max_concurrent_per_key: int | None
    rate_limit_per_key: str | None
    rate_keys: int


class SubscriptionOptions(QueueOptions, total=False):
    """Options of a subscription: its order, and the poison policy as for a queue."""

    prioritized: bool


class TopicOptions(TypedDict, total=False):
    """Options of a topic; docs/topics.md explains them."""

    persistent: bool
    default_reliability: Level
    max_reliability: Level
    producer_may_override: bool
    discard_with_sender: bool
    stamp_user: bool
    contract: Mapping[str, object] | bool | None
    max_message_bytes: int
    default_priority: int
    default_time_to_live_ms: int | None
    journal_level: Literal["off", "exits", "full"]
    deduplication_window_ms: int
    retain_ms: int | None
    retain_bytes: int | None
    recovery: Literal["none", "last_image", "retained", "fixed_count", "fixed_size", "timed", "query"]
    recovery_amount: int | None
    recovery_selector: str | None
    backlog_limit: int | None
    backlog_age_ms: int | None
    backlog_action: Literal["drop_backlog", "drop_subscription", "refuse"]


class ListenerOptions(TypedDict, total=False):
    """Options of a listener; docs/listeners.md explains them."""

    max_sessions: int
    stop_on_failure: bool
    sequential_failures: int
    kind: Literal["activation_specification", "listener_port"]


class EngineOptions(TypedDict, total=False):
    """Options of the whole engine; docs/operations.md explains them."""

    max_count: int | None
    max_size: int | str | None
    max_message_bytes: int | str | None
    yellow_threshold: int
    orange_threshold: int
    red_threshold: int
    orange_delay_ms: int
    default_blocked_retry_ms: int
    redelivered_optimization: bool
    expiration_interval_seconds: int
    autorollback: bool
    topic_rotation_seconds: int
    journal_retention_days: int
    incident_retention_days: int
    log_level: Literal["ERROR", "WARNING", "INFO"]
    log_retention_days: int
    archive: bool
    persistent: bool
    exclusive: bool
    instance_timeout_seconds: int
    autocreate_queue: bool
    autocreate_topic: bool
    autocreate_options: QueueOptions
    autocreate_reap_seconds: int
    access_enabled: bool
    rule_set: str


class ServiceOptions(TypedDict, total=False):
    """Options of a service; docs/services.md explains them."""

    active: bool
    access_enabled: bool | None
    rule_set: str | None
    roles: Sequence[str] | None
    require_tls: bool
    min_connections: int
    max_connections: int
    idle_seconds: int
    model: Literal["dedicated", "shared"]
    monitor_limit: int
    comment: str | None


class StorageOptions(TypedDict, total=False):
    """Storage parameters of the message tables, as in CREATE TABLE; None resets one."""

    fillfactor: int | None
    autovacuum_enabled: bool | None
    autovacuum_vacuum_threshold: int | None
    autovacuum_vacuum_scale_factor: float | None
    autovacuum_vacuum_insert_threshold: int | None
    autovacuum_vacuum_insert_scale_factor: float | None
    autovacuum_vacuum_cost_delay: float | None
    autovacuum_vacuum_cost_limit: int | None
    autovacuum_analyze_threshold: int | None
    autovacuum_analyze_scale_factor: float | None
    autovacuum_freeze_min_age: int | None
    autovacuum_freeze_max_age: int | None
    vacuum_truncate: bool | None


class ObjectAttributes(TypedDict, total=False):
    """Attributes of administered objects; docs/objects.md explains them. None takes one away."""

    description: str | None
    hosts: list[str] | None
    load_balance: bool | None
    dbname: str | None
    user: str | None
    role: str | None
    service: str | None
    sslmode: Literal["disable", "allow", "prefer", "require", "verify-ca", "verify-full"] | None
    connection_service: str | None
    connect_timeout_ms: int | None
    min_size: int | None
    max_size: int | None
    reconnect_attempts: int | None
    reconnect_interval_ms: int | None
    reconnect_interval_max_ms: int | None
    client_id: str | None
    delivery_mode: Literal["persistent", "non-persistent", "application"] | None
    priority: int | None
    time_to_live_ms: int | None
    override_temporary: bool | None
    persistent_mapping: Literal["RELIABLE_PERSISTENT", "ASSURED_PERSISTENT"] | None
    nonpersistent_mapping: (
        Literal["BEST_EFFORT_NONPERSISTENT", "EXPRESS_NONPERSISTENT", "RELIABLE_NONPERSISTENT"] | None
    )
    prefetch: int | None
    subscription_prefetch: int | None
    producer_window_bytes: int | None
    confirm_sends: Literal["all", "persistent", "none"] | None
    lease_duration_ms: int | None
    max_redeliveries: int | None
    commit_by_reliability: bool | None
    browser_page_size: int | None
    browser_timeout_ms: int | None
    jmsx_user_id: bool | None
    jmsx_app_id: bool | None
    jmsx_producer_txid: bool | None
    jmsx_consumer_txid: bool | None
    jmsx_rcv_timestamp: bool | None
    predefined_only: bool | None
    members: list[str] | None
    destination: str | None
