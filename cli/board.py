"""howdah board: boards for Grafana and alert rules for Prometheus, to be imported there."""

from __future__ import annotations

from typing import Annotated

import typer

from ..telemetry import board as boards
from . import output


def board(
    which: Annotated[
        boards.Import,
        typer.Argument(help="A board on Prometheus, one on PostgreSQL alone, or alert rules for Prometheus."),
    ],
) -> None:
    """Print a board for Grafana, or alert rules for Prometheus. No database is asked."""
    if which is boards.Import.ALERTS:
        output.write(boards.alerts().removesuffix("\n"))
    else:
        output.write(output.to_json(boards.board(which)))
