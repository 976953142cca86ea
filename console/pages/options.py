"""Options of a queue by what they are about, with those marked that are not the default."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...engine.calls import Rows
from .page import Columns

COLUMNS: Columns = (("option", "Option"), ("value", "Value"), ("default", "Default"), ("differs", "Not the default"))

GROUPS = {
    "Failures": (
        "max_failed_deliveries",
        "limit_comparison",
        "count_by",
        "decided_at",
        "backout_count",
        "poison_handling",
        "disable_after",
        "clean_incidents",
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
    ),
    "At the limit of failures": (
        "at_limit",
        "exception_mode",
        "exception_queue",
        "exception_fallback",
        "exception_prefix",
        "exception_discard_reliability",
        "check_rights",
        "process_non_persistent",
        "process_expired",
        "poison_procedure",
        "quarantine_ms",
        "quarantine_times",
    ),
    "Reports": ("log_table", "log_queue", "error_reply", "notify_admin", "notify_events", "journal_level"),
    "Order and consumers": ("strict_order", "message_groups", "delivery_policy"),
    "Limits": ("max_message_bytes", "message_limit", "byte_limit", "limit_behaviour", "send_timeout_ms"),
    "Messages": (
        "default_priority",
        "default_time_to_live_ms",
        "deduplication_window_ms",
        "persistent",
        "default_reliability",
        "max_reliability",
        "producer_may_override",
        "discard_with_sender",
        "stamp_user",
    ),
}
OTHERS = "Others"


def compared(options: Mapping[str, Any], defaults: Mapping[str, Any] | None) -> Rows:
    """The options in the order of their groups, each beside its default. defaults: None if nobody knows them."""
    place = {option: title for title, names in GROUPS.items() for option in names}
    order = {option: index for index, option in enumerate(place)}
    return [
        {
            "group": place.get(option, OTHERS),
            "option": option,
            "value": value,
            "default": defaults.get(option) if defaults is not None else None,
            "differs": "changed" if defaults is not None and value != defaults.get(option) else "",
        }
        for option, value in sorted(options.items(), key=lambda item: (order.get(item[0], len(order)), item[0]))
    ]


def grouped(rows: Rows) -> list[tuple[str, Rows]]:
    """The rows of each group that has any."""
    titles = [*GROUPS, OTHERS]
    groups = [(title, [row for row in rows if row["group"] == title]) for title in titles]
    return [(title, found) for title, found in groups if found]
