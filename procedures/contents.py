"""The rooms of the SQL API, in the order of installation, and what lies in each.

A room is a folder. Its file CONTENTS lists its functions, one a line, in the order of installation: a function in SQL
comes after those that it calls. Lines that begin with # are for readers.

The way of a message: send/send, claim and receive/receive, then leases/ack or failure/record_failure and, at its limit,
disposal/_apply_limit_policy; journal/_journal has it on record for views/audit.
"""

from __future__ import annotations

import re
from importlib.resources import files

from .parser import headers
from .rendering import render

ROOMS = (
    # what the others stand on
    "base",
    "hints",
    "options",
    "changes",
    # where messages go
    "destinations",
    "aliases",
    "access",
    "autocreate",
    "ring",
    "cursors",
    "subscriptions",
    "topics",
    "temporary",
    "senders",
    "selectors",
    # a message is sent,
    "bodies",
    "contracts",
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
    "permits",
    "streams",
    "transformations",
    "receive",
    "results",
    # fails and is disposed of,
    "failure",
    "attempts",
    "disposal",
    "functions",
    "poison",
    "events",
    "log",
    # is leased and acknowledged,
    "leases",
    "listeners",
    # goes on to another engine,
    "links",
    # comes over from another system's store,
    "imports",
    # is dealt with by an administrator and looked at,
    "operator",
    "engine",
    "services",
    "inspect",
    "kept",
    "metrics",
    "search",
    # archived and audited
    "views",
    "archive",
    "audit",
    # workers and their housekeeping
    "runtime",
    "instances",
    "cluster",
    "objects",
    "maintenance",
)

FACADES = {
    "pgmq": "the SQL API of pgmq 1.13.0",
    "pgmq_public": "what Supabase shows of pgmq to its clients; needs the facade pgmq",
}
"""Rooms below facades/, which `howdah facade install` alone installs, each in the schema of its name."""


def contents(room: str) -> tuple[str, ...]:
    """The files of a room, each as ROOM/NAME."""
    text = (files(__package__) / room / "CONTENTS").read_text(encoding="utf-8")
    return tuple(f"{room}/{name}" for name in text.splitlines() if name and not name.startswith("#"))


def facade_files(facade: str) -> tuple[str, ...]:
    """The texts of a facade, in the order of installation."""
    room = files(__package__) / "facades" / facade
    names = [name for name in (room / "CONTENTS").read_text(encoding="utf-8").splitlines() if name]
    return tuple((room / f"{name}.sql").read_text(encoding="utf-8") for name in names if not name.startswith("#"))


FILES = tuple(name for room in ROOMS for name in contents(room))
"""Every file, in the order of installation."""


def source(name: str) -> str:
    """The text of one file of FILES, as it is installed."""
    return render((files(__package__) / f"{name}.sql").read_text(encoding="utf-8"))


_BEGIN = re.compile(r"^as \$\$\n(?:.*?^(?:declare|begin)\n)?", re.MULTILINE | re.DOTALL)


def installed(name: str) -> str:
    """The text of one file of FILES, with the check that each function of administrators alone begins with.

    A session that has connected with a service for messages calls no such function, whatever its roles allow. The check
    stands here once, so that no function can lack it.
    """
    text = source(name)
    for header in headers(text):
        if header.kind == "function" and header.roles == ("howdah_admin",):
            text = _checked(text, header.name)
    return text


def _checked(text: str, function: str) -> str:
    """The text with the check in each overload of a function."""
    parts = re.split(rf"(?=^create or replace function howdah\.{function}\b)", text, flags=re.MULTILINE)
    return parts[0] + "".join(_BEGIN.sub(_with_check, part, count=1) for part in parts[1:])


def _with_check(found: re.Match[str]) -> str:
    if found[0].endswith("declare\n"):  # before the others: they may raise
        return f"{found[0]}    v_checked constant boolean := howdah._check_admin_service();\n"
    verb = "perform" if found[0].endswith("begin\n") else "select"
    return f"{found[0]}    {verb} howdah._check_admin_service();\n"
