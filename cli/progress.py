"""What a long command is at, on stderr while it is a terminal; nothing where stderr goes to a file or a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from . import output


@contextmanager
def working(first: str) -> Iterator[Callable[[str], None]]:
    """Show a stage and the time that has passed; yields what to call with the next stage. The line goes at the end."""
    if not sys.stderr.isatty():
        yield lambda stage: None
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    # What else writes to stdout and stderr meanwhile stays as it is: --json, Java's own lines.
    with Progress(
        *columns, console=output.console(stderr=True), transient=True, redirect_stdout=False, redirect_stderr=False
    ) as progress:
        task = progress.add_task(first, total=None)
        yield lambda stage: progress.update(task, description=stage, refresh=True)
