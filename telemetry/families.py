"""The metrics that Howdah has: the type of each, and what it says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Family:
    """A metric: its type in OpenMetrics, and its help text."""

    kind: Literal["gauge", "counter", "histogram"]
    help: str


_FLOWS = {
    "messages_enqueued": Family("counter", "Messages that came in, moved and replayed ones too."),
    "messages_dequeued": Family("counter", "Messages that left, by outcome."),
    "failures": Family("counter", "Failed deliveries, by class of the error."),
    "wait_seconds": Family("histogram", "Time from send to receive. Messages of one call count as its oldest."),
    "handler_seconds": Family("histogram", "Time that calls of handlers took."),
}

FAMILIES: dict[str, Family] = {
    "howdah_messages": Family("gauge", "Messages by state: ready, waiting, leased or dead."),
    "howdah_oldest_message_age_seconds": Family("gauge", "Age of the oldest ready message that is not dead."),
    "howdah_messages_in_hand": Family("gauge", "Messages in the hands of workers at their last heartbeat."),
    "howdah_queues": Family("gauge", "Queues that there are."),
    "howdah_queues_shown": Family("gauge", "Queues with figures of their own in this answer."),
    "howdah_workers": Family("gauge", "Live worker processes."),
    "howdah_worker_sessions": Family("gauge", "Sessions of live worker processes."),
    "howdah_consumers": Family("gauge", "Open consumers."),
    "howdah_leases": Family("gauge", "Leases of persistent messages that have not ended, counted up to 100,000."),
    "howdah_subscription_behind": Family("gauge", "Messages that a subscription has not passed, at most."),
    "howdah_subscription_lag_seconds": Family("gauge", "Age of the first message that a subscription has not passed."),
    "howdah_link_up": Family("gauge", "1: a forwarder carries the link's messages."),
    "howdah_link_away_seconds": Family("gauge", "For how long the link's target has been away."),
    "howdah_link_forwarded": Family("counter", "Messages that the link forwarded."),
    "howdah_audit_age_seconds": Family("gauge", "Time since the snapshot of the last audit."),
    "howdah_audit_passed": Family("gauge", "1: the last audit accounts for every message."),
    "howdah_audit_findings": Family("gauge", "Messages that break rules of the last audit, by severity."),
    "howdah_audit_queues": Family("gauge", "Destinations by their last verdict."),
    "howdah_totals_age_seconds": Family("gauge", "Time since the totals were last added up."),
    "howdah_counts_age_seconds": Family("gauge", "Time since messages were last counted."),
    "howdah_vacuum_horizon_transactions": Family(
        "gauge", "Transactions since the oldest one that vacuum must respect."
    ),
    "howdah_vacuum_horizon_age_seconds": Family("gauge", "Age of the oldest transaction that vacuum must respect."),
    "howdah_table_dead_rows": Family("gauge", "Dead rows of a table, by PostgreSQL's statistics."),
    "howdah_table_bytes": Family("gauge", "Size of a table with its indexes."),
    "howdah_engine_state": Family("gauge", "1 for the state that the engine is in."),
    "howdah_queue_messages": Family("gauge", "Messages of a queue by state: ready, waiting, leased or dead."),
    "howdah_queue_oldest_message_age_seconds": Family("gauge", "Age of a queue's oldest ready message."),
    "howdah_queue_oldest_kept_age_seconds": Family(
        "gauge", "Time since the oldest message that a queue keeps was consumed."
    ),
    "howdah_queue_workers": Family("gauge", "Live worker processes that receive from a queue."),
    "howdah_queue_consumers": Family("gauge", "Open consumers of a queue."),
    "howdah_queue_max_concurrent": Family("gauge", "Messages of a queue that may be in hand at a time."),
    "howdah_queue_permits_in_use": Family("gauge", "Those in hand under max_concurrent, by receives or leases."),
    "howdah_queue_rate_opens_seconds": Family("gauge", "Time until a spent rate leaves room again; 0: it has room."),
    **{f"howdah_{name}": family for name, family in _FLOWS.items()},
    **{f"howdah_queue_{name}": family for name, family in _FLOWS.items()},
}
"""Each metric by its name, without the suffixes of samples."""

SUFFIXES = {"gauge": ("",), "counter": ("_total",), "histogram": ("_bucket", "_count", "_sum")}
"""The suffixes of a metric's samples."""

SAMPLES = {f"{name}{suffix}": name for name, family in FAMILIES.items() for suffix in SUFFIXES[family.kind]}
"""The metric of each sample."""
