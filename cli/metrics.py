"""howdah metrics: what monitoring asks for, as OpenMetrics text."""

from __future__ import annotations

from typing import Annotated

import typer

from . import output
from .common import Dsn, Json, Role, connected


def metrics(
    queues: Annotated[
        int, typer.Option("--queues", "-n", min=0, max=100000, help="Most queues with figures of their own.")
    ] = 100,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Print the metrics of the engine and of its busiest queues in the format OpenMetrics, for Prometheus."""
    from ..telemetry.metrics import rendered

    with connected(dsn, role) as connection:
        samples = connection.admin.metrics(queues)
    if as_json:
        output.write(output.to_json(samples))
    else:
        output.write(rendered(samples).removesuffix("\n"))
