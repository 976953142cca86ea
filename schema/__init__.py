"""The data dictionary: every table of Howdah as SQLAlchemy metadata, with comments that land in the database."""

from __future__ import annotations

from . import types
from .base import SCHEMA, metadata
from .destinations import FAILING, NAME_LENGTH_MAX, destination_grants, destinations, lanes
from .failures import attempts, ended_conversations, operator_acts, poison_details, poison_log, quarantines
from .journal import EVENTS, backlog_figures, dead_figures, journal, journal_totals
from .listeners import listener_marks, listeners
from .messages import msgs, msgs_nonpersistent, parked
from .policies import destination_policies
from .runtime import engine, lock, workers
from .topics import SLOTS, ack_cursors, acked, acks, bridges, subscriptions, topic_ring, topics

__all__ = [
    "EVENTS",
    "FAILING",
    "NAME_LENGTH_MAX",
    "SCHEMA",
    "SLOTS",
    "ack_cursors",
    "acked",
    "acks",
    "attempts",
    "backlog_figures",
    "bridges",
    "dead_figures",
    "destination_grants",
    "destination_policies",
    "destinations",
    "ended_conversations",
    "engine",
    "journal",
    "journal_totals",
    "lanes",
    "listener_marks",
    "listeners",
    "lock",
    "metadata",
    "msgs",
    "msgs_nonpersistent",
    "operator_acts",
    "parked",
    "poison_details",
    "poison_log",
    "quarantines",
    "subscriptions",
    "topic_ring",
    "topics",
    "types",
    "workers",
]
