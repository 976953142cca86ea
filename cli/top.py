"""howdah top: the overview of an engine, live in a terminal."""

from __future__ import annotations

from typing import Annotated

import typer

from . import live, output, overview
from .common import Dsn, Role, connected


def top(
    once: Annotated[bool, typer.Option("--once", help="Print a single picture, and end.")] = False,
    every: live.Every = 2,
    dsn: Dsn = None,
    role: Role = None,
) -> None:
    """Show the engine, its workers and its busiest queues live. q quits, p pauses."""
    if not once and not live.is_possible():
        raise typer.BadParameter("stdout is no terminal: --once prints a single picture", param_hint="--once")
    with connected(dsn, role) as connection:
        if once:
            output.write(overview.page(overview.look(connection), None, None))
            return
        looks: list[overview.Figures | None] = [None]

        def look() -> tuple[overview.Figures | None, overview.Figures]:
            before, now = looks[-1], overview.look(connection)
            looks[:] = [now]
            return before, now

        live.watch(look, _page, every)


def _page(seen: tuple[overview.Figures | None, overview.Figures], width: int, height: int, paused: bool) -> str:
    before, now = seen
    return f"{overview.page(now, before, width, height - 2)}\n\n{live.keys(paused)}"
