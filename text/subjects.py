"""The options of a queue by what they are about, as people read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

#: The options by what they are about, in the order in which they are shown.
SUBJECTS: dict[str, tuple[str, ...]] = {
    "Policy": (
        "preset",
        "poison_handling",
        "max_failed_deliveries",
        "limit_comparison",
        "count_by",
        "decided_at",
        "backout_count",
    ),
    "Redelivery": (
        "redelivery_delay_ms",
        "initial_redelivery_delay_ms",
        "use_exponential_backoff",
        "backoff_multiplier",
        "max_redelivery_delay_ms",
        "use_collision_avoidance",
        "collision_avoidance_factor",
        "override_blocked_retry",
        "blocked_retry_ms",
        "disable_after",
    ),
    "At the limit": (
        "at_limit",
        "exception_mode",
        "exception_queue",
        "exception_prefix",
        "exception_fallback",
        "exception_discard_reliability",
        "check_rights",
        "process_expired",
        "process_non_persistent",
        "quarantine_ms",
        "quarantine_times",
        "error_reply",
        "poison_procedure",
    ),
    "Evidence and notices": (
        "journal_level",
        "keep_bodies_ms",
        "log_table",
        "log_queue",
        "clean_incidents",
        "notify_admin",
        "notify_events",
    ),
    "Order and sharing": ("strict_order", "message_groups", "delivery_policy"),
    "Reliability": (
        "persistent",
        "default_reliability",
        "max_reliability",
        "producer_may_override",
        "discard_with_sender",
    ),
    "Messages": (
        "stamp_user",
        "last_value_key",
        "contract",
        "default_priority",
        "default_time_to_live_ms",
        "deduplication_window_ms",
        "keep_results_ms",
    ),
    "Handlers": (
        "max_concurrent",
        "rate_limit",
        "limit_key",
        "max_concurrent_per_key",
        "rate_limit_per_key",
        "rate_keys",
    ),
    "Limits": ("max_message_bytes", "message_limit", "byte_limit", "limit_behaviour", "send_timeout_ms"),
}
OTHERS = "Others"


def by_subject(options: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """Group the options by subject. An option that no subject names is kept."""
    rest = set(options)
    for subject, keys in SUBJECTS.items():
        if there := [key for key in keys if key in options]:
            yield subject, there
        rest -= set(keys)
    if rest:
        yield OTHERS, sorted(rest)


def differs(option: str, value: object, defaults: Mapping[str, Any]) -> bool:
    """Whether an option is not the default. A preset is chosen, not changed: the other options are compared with it."""
    return option != "preset" and value != defaults.get(option)
