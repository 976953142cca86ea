"""Show the stage of a long command on stderr if that is a terminal, and nothing otherwise."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from . import output


@contextmanager
def working(first: str) -> Iterator[Callable[[str], None]]:
    """Show a stage and the elapsed time until the end. Yields the function to call with the next stage."""
    if not sys.stderr.isatty():
        yield lambda stage: None
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    # Other output to stdout and stderr stays as it is: --json, Java's lines.
    with Progress(
        *columns, console=output.console(stderr=True), transient=True, redirect_stdout=False, redirect_stderr=False
    ) as progress:
        task = progress.add_task(first, total=None)
        yield lambda stage: progress.update(task, description=stage, refresh=True)
