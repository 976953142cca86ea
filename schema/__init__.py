"""The data dictionary: every table of Howdah as SQLAlchemy metadata, with comments that land in the database."""

from __future__ import annotations

from . import types
from .access import access_rule_sets, access_rules
from .archive import archive_restores, archive_runs, archived_messages, maintenance_waits
from .audits import audit_runs, audit_verdicts
from .autocreate import auto_destinations, spare_numbers
from .base import SCHEMA, metadata
from .changes import config_changes
from .consumers import candidates, consumer_leases, consumers, group_owners, selections
from .destinations import FAILING, NAME_LENGTH_MAX, aliases, destination_grants, destinations
from .failures import (
    attempts,
    ended_conversations,
    operator_acts,
    poison_details,
    poison_log,
    quarantines,
    untaken_attempts,
)
from .imports import import_holds, imported, imports
from .instances import instance_positions, instances
from .journal import EVENTS, backlog_counts, backlog_figures, dead_figures, journal, journal_totals
from .kept import kept_messages
from .lanes import lanes
from .links import link_arrivals, link_receipts, links
from .listeners import listener_marks, listeners
from .log import log_events, log_readers
from .messages import ahead_leases, deduplications, handed, last_values, msgs, msgs_nonpersistent, parked
from .metrics import flow_samples, metric_epoch, metric_histograms, metric_totals
from .objects import objects, xa_transactions
from .permits import leased_permits, permits_in_hand, rate_cells
from .policies import destination_policies, redactions
from .results import result_waiters, results
from .runtime import engine, latches, lock, worker_figures, workers
from .schedules import schedule_runs, schedules
from .senders import sender_signs, sent_by
from .services import services
from .temporary import temporary_queues
from .topics import SLOTS, ack_cursors, acked, acks, bridges, subscriptions, topic_ring, topics
from .transformations import transformations

__all__ = [
    "EVENTS",
    "FAILING",
    "NAME_LENGTH_MAX",
    "SCHEMA",
    "SLOTS",
    "access_rule_sets",
    "access_rules",
    "ack_cursors",
    "acked",
    "acks",
    "ahead_leases",
    "aliases",
    "archive_restores",
    "archive_runs",
    "archived_messages",
    "attempts",
    "audit_runs",
    "audit_verdicts",
    "auto_destinations",
    "backlog_counts",
    "backlog_figures",
    "bridges",
    "candidates",
    "config_changes",
    "consumer_leases",
    "consumers",
    "dead_figures",
    "deduplications",
    "destination_grants",
    "destination_policies",
    "destinations",
    "ended_conversations",
    "engine",
    "flow_samples",
    "group_owners",
    "handed",
    "import_holds",
    "imported",
    "imports",
    "instance_positions",
    "instances",
    "journal",
    "journal_totals",
    "kept_messages",
    "lanes",
    "last_values",
    "latches",
    "leased_permits",
    "link_arrivals",
    "link_receipts",
    "links",
    "listener_marks",
    "listeners",
    "lock",
    "log_events",
    "log_readers",
    "maintenance_waits",
    "metadata",
    "metric_epoch",
    "metric_histograms",
    "metric_totals",
    "msgs",
    "msgs_nonpersistent",
    "objects",
    "operator_acts",
    "parked",
    "permits_in_hand",
    "poison_details",
    "poison_log",
    "quarantines",
    "rate_cells",
    "redactions",
    "result_waiters",
    "results",
    "schedule_runs",
    "schedules",
    "selections",
    "sender_signs",
    "sent_by",
    "services",
    "spare_numbers",
    "subscriptions",
    "temporary_queues",
    "topic_ring",
    "topics",
    "transformations",
    "types",
    "untaken_attempts",
    "worker_figures",
    "workers",
    "xa_transactions",
]
