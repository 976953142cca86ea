"""The rooms of the SQL API, in the order of installation, and what lies in each.

A room is a folder. Its file CONTENTS lists its functions, one a line, in the order of installation: a function in SQL
comes after those that it calls. Lines that begin with # are for readers.
"""

from __future__ import annotations

from importlib.resources import files

ROOMS = (
    # what the others stand on
    "base",
    "hints",
    "options",
    # where messages go
    "destinations",
    "ring",
    "cursors",
    "subscriptions",
    "topics",
    "temporary",
    "selectors",
    # a message is sent,
    "bodies",
    "messages",
    "limits",
    "journal",
    "send",
    "publish",
    "schedules",
    # received,
    "claim",
    "admission",
    "consumers",
    "groups",
    "walks",
    "streams",
    "receive",
    # fails and is disposed of,
    "failure",
    "attempts",
    "disposal",
    "poison",
    "events",
    # is leased and acknowledged,
    "leases",
    "listeners",
    # is dealt with by an administrator and looked at,
    "operator",
    "inspect",
    # archived and audited
    "views",
    "archive",
    "audit",
    # workers and their housekeeping
    "runtime",
    "maintenance",
)


def contents(room: str) -> tuple[str, ...]:
    """The files of a room, each as ROOM/NAME."""
    text = (files(__package__) / room / "CONTENTS").read_text(encoding="utf-8")
    return tuple(f"{room}/{name}" for name in text.splitlines() if name and not name.startswith("#"))


FILES = tuple(name for room in ROOMS for name in contents(room))
"""Every file, in the order of installation."""


def source(name: str) -> str:
    """The text of one file of FILES."""
    return (files(__package__) / f"{name}.sql").read_text(encoding="utf-8")
