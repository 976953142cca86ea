"""howdah board: boards for Grafana and alert rules for Prometheus, to be imported there."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from . import output


class Which(StrEnum):
    """What there is to import."""

    prometheus = "prometheus"
    sql = "sql"
    alerts = "alerts"


def board(
    which: Annotated[
        Which, typer.Argument(help="A board on Prometheus, one on PostgreSQL alone, or alert rules for Prometheus.")
    ],
) -> None:
    """Print a board for Grafana, or alert rules for Prometheus. No database is asked."""
    from ..telemetry.board import Board, alerts
    from ..telemetry.board import board as of

    output.write(alerts().removesuffix("\n") if which is Which.alerts else output.to_json(of(Board(which))))
