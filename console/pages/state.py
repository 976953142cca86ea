"""The state of the engine and its server, for the overview."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from ...engine.calls import Rows
from ..database import Work
from ..showing import plain, span
from .page import Columns

STATE: Columns = (("name", "What"), ("state", "State"), ("detail", "Found"), ("advice", "Do"))
#: The horizon of vacuum is held up for longer than a usual transaction takes.
LONG = timedelta(hours=1).total_seconds()


def state(work: Work) -> Rows:
    """The server, the engine, maintenance, workers, resources, limits and vacuum: each with what to do."""
    return [
        *work.part(work.admin.health),
        *work.part(lambda: _resources(work.admin.resource_state(exact=False))),
        *work.part(lambda: _horizon(work.admin.metrics(0))),
    ]


def _resources(found: dict[str, Any]) -> Rows:
    percent = "" if found["percent"] is None else f", {found['percent']} % of the nearer limit"
    held = "messages not counted yet" if found["messages"] is None else f"{plain(found['messages'])} messages"
    limits = [held + _of(found["max_count"]), f"bytes of bodies{_of(found['max_bytes'])}"]
    return [
        {
            "name": "resources",
            "state": found["state"],
            "detail": f"{plain(found['database_bytes'])} bytes on disk{percent}",
            "advice": None if found["state"] == "green" else "Receive more, or raise the limits: howdah engine alter.",
        },
        {
            "name": "limits",
            "state": "none" if found["max_count"] is found["max_bytes"] is None else "set",
            "detail": "; ".join(limits),
            "advice": None,
        },
    ]


def _of(limit: int | None) -> str:
    return ", no limit" if limit is None else f", at most {limit:,}"


def _horizon(samples: Rows) -> Rows:
    found = {row["name"]: row["value"] for row in samples if row["name"].startswith("howdah_vacuum_horizon")}
    age = found.get("howdah_vacuum_horizon_age_seconds", 0.0)
    behind = int(found.get("howdah_vacuum_horizon_transactions", 0))
    long = age > LONG
    return [
        {
            "name": "vacuum horizon",
            "state": "warning" if long else "ok",
            "detail": f"{span(age)} old, {behind:,} transactions back",
            "advice": "An old transaction keeps dead rows. See Transactions." if long else None,
        }
    ]
