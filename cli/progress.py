"""Show on stderr how far a long command is, if that is a terminal, and nothing otherwise."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO

from . import output


@contextmanager
def working(first: str) -> Iterator[Callable[[str], None]]:
    """Show a stage and the elapsed time until the end. Yields the function to call with the next stage."""
    if not sys.stderr.isatty():
        yield lambda stage: None
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    # Leave other output (--json, Java) unchanged.
    with Progress(
        *columns, console=output.console(stderr=True), transient=True, redirect_stdout=False, redirect_stderr=False
    ) as progress:
        task = progress.add_task(first, total=None)
        yield lambda stage: progress.update(task, description=stage, refresh=True)


@contextmanager
def counting(things: str) -> Iterator[tuple[Callable[[int], None], Callable[[int], None]]]:
    """Show a bar. Yields two functions: one says how many there are in all, the other that so many more are done."""
    if not sys.stderr.isatty():
        yield lambda number: None, lambda number: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(
        *columns, console=output.console(stderr=True), transient=True, redirect_stdout=False, redirect_stderr=False
    ) as progress:
        task = progress.add_task(things, total=None)
        yield (lambda number: progress.update(task, total=number)), (lambda number: progress.advance(task, number))


@contextmanager
def sending(file: IO[bytes]) -> Iterator[tuple[Callable[[int], None], Callable[[int], None]]]:
    """Show a bar. Yields two functions: one says how many bytes were read, the other how many messages are sent."""
    if not sys.stderr.isatty():
        yield lambda read: None, lambda sent: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(), TextColumn("{task.fields[sent]:,} sent"), TimeElapsedColumn())
    with Progress(*columns, console=output.console(stderr=True), transient=True) as progress:
        task = progress.add_task("send", total=_size(file), sent=0)
        yield (lambda read: progress.advance(task, read)), (lambda sent: progress.update(task, sent=sent))


def _size(file: IO[bytes]) -> int | None:
    """Return the size of a file. None: it is a pipe, or no file of the system's."""
    try:
        facts = os.fstat(file.fileno())
    except (OSError, AttributeError):
        return None
    return facts.st_size if stat.S_ISREG(facts.st_mode) else None
