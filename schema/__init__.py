"""The data dictionary: every table of Howdah as SQLAlchemy metadata, with comments that land in the database."""

from __future__ import annotations

from . import types
from .base import SCHEMA, metadata
from .destinations import FAILING, NAME_LENGTH_MAX, destination_grants, destinations, lanes
from .failures import operator_acts, poison_details
from .journal import EVENTS, backlog_figures, dead_figures, journal, journal_totals
from .messages import msgs, msgs_nonpersistent, parked
from .runtime import acks, engine, lock, workers

__all__ = [
    "EVENTS",
    "FAILING",
    "NAME_LENGTH_MAX",
    "SCHEMA",
    "acks",
    "backlog_figures",
    "dead_figures",
    "destination_grants",
    "destinations",
    "engine",
    "journal",
    "journal_totals",
    "lanes",
    "lock",
    "metadata",
    "msgs",
    "msgs_nonpersistent",
    "operator_acts",
    "parked",
    "poison_details",
    "types",
    "workers",
]
