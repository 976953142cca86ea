"""howdah check: report whether this server is set up for learning or for work."""

from __future__ import annotations

import typer

from . import tables
from .common import FAILED, OK, Dsn, Json, Role, Wide, connected

COLUMNS = tables.Columns(
    {"setting": "setting", "value": "value", "danger": "danger", "advice": "advice"},
    fold=frozenset({"value", "advice"}),
)


def check(wide: Wide = False, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Report settings that suit only learning. Exit code 1 if one of them risks committed data."""
    with connected(dsn, role) as connection:
        rows = connection.admin.check_server()
    tables.show(rows, COLUMNS, as_json=as_json, empty="nothing to say", wide=wide)
    raise typer.Exit(FAILED if any(row["danger"] == "loss" for row in rows) else OK)
