"""The rooms of the SQL API, in the order of installation, and what lies in each.

A room is a folder. Its file CONTENTS lists its functions, one a line, in the order of installation: a function in SQL
comes after those that it calls. Lines that begin with # are for readers.

The way of a message: send/send, claim and receive/receive, then leases/ack or failure/record_failure and, at its limit,
disposal/_apply_limit_policy; journal/_journal has it on record for views/audit.
"""

from __future__ import annotations

import re
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


SLOTS = (0, 1, 2)
"""The numbers of the tables that topic messages go round in."""

_EACH = re.compile(r"^ *-- for N in 0, 1, 2:\n(.*?)^ *-- end for\n", re.MULTILINE | re.DOTALL)


def render(text: str) -> str:
    """The text with the lines of each loop as often as the ring has tables, with a table's number in place of N.

    A statement locks each table that it names, and a locked table cannot be emptied, so there is one for each table.
    """
    return _EACH.sub(lambda loop: "".join(re.sub(r"(?<![A-Za-z0-9])N\b", str(slot), loop[1]) for slot in SLOTS), text)


def source(name: str) -> str:
    """The text of one file of FILES, as it is installed."""
    return render((files(__package__) / f"{name}.sql").read_text(encoding="utf-8"))
