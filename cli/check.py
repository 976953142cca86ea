"""howdah check: whether this server is set up for learning or for work."""

from __future__ import annotations

import typer

from . import output
from .common import FAILED, OK, Dsn, Json, Role, connected

COLUMNS = {"setting": "setting", "value": "value", "danger": "danger", "advice": "advice"}


def check(dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Say which settings are for learning. Exit code 1 if any of them risks what was committed."""
    with connected(dsn, role) as connection:
        rows = connection.admin.check_server()
    if dsn is None:
        rows.append(
            {
                "setting": "server",
                "value": "embedded",
                "danger": "slow",
                "advice": "It shares this machine with what uses it and is backed up by nobody; give --dsn for another.",
            }
        )
    output.table(rows, COLUMNS, as_json=as_json, empty="nothing to say")
    raise typer.Exit(FAILED if any(row["danger"] == "loss" for row in rows) else OK)
