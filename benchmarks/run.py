"""A run: the rows one after the other, a record kept after each, so that a run broken off has what it measured."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import psycopg
from rich.console import Console

from ..engine import HowdahError
from . import machine, rows
from .bench import Bench
from .clients import Peers
from .peers.environment import Environment
from .place import Place
from .record import Record
from .servers import Servers
from .show import show
from .size import Size


def run(
    console: Console,
    size: Size,
    *,
    dsn: str | None = None,
    version: int | None = None,
    only: list[str] | None = None,
    peers: Path | None = None,
    keep: Callable[[Record], None] = lambda record: None,
    into: Record | None = None,
) -> Record:
    """Measure on our own server, or on the one at ``dsn``; ``keep`` is given the record after each row.

    version: major version of our own server.
    peers: the folder for the peers' environments; None: without peers.
    into: a record whose other rows are kept; it says which were measured again, and when.

    Raises HowdahError if the server is not durable or not migrated.
    """
    with ExitStack() as stack:
        # SIGTERM as Ctrl-C, so that neither server nor queues are left.
        stack.callback(signal.signal, signal.SIGTERM, signal.signal(signal.SIGTERM, signal.default_int_handler))
        place = Place(dsn) if dsn is not None else stack.enter_context(Place.own(version))
        with place.database():
            pass  # what stands in the way there, and whether Howdah is installed, is said before anything is measured
        about = machine.about(size.name, size.rounds, place.settings())
        record = Record(about) if into is None else into
        record.renew(about)
        bench = Bench(place, size, record, console)
        servers = stack.enter_context(Servers(place))
        present = Peers(bench, Environment(peers.resolve()) if peers is not None else None, servers)
        for row in rows.chosen(only or [], bench):
            started = time.monotonic()
            if into is not None:
                into.forget(row.key, f"{about['date']}, load before {about['load before']:.1f}")
            try:
                with console.status(f"{row.title} …"):
                    row.run(bench, present)
            except (HowdahError, psycopg.Error, RuntimeError, ImportError, OSError) as error:
                # The other rows are worth having; the page says what is missing.
                record.absent[row.key] = str(error).strip()
                console.print(f"[red]{row.title}: {error}[/]", highlight=False)
            show(console, record, row, time.monotonic() - started)
            keep(record)
        if size.name == "quick" and not only:
            left = ", ".join(row.key for row in rows.ROWS if row.full_only)
            record.absent["rows"] = f"{left}: left out of a quick run (--full, or --only ROW)"
            record.absent["repetitions"] = (
                "in a quick run peers are run once each, their workers in one process and with 40 % of our messages"
            )
            for name in ("rows", "repetitions"):
                console.print(f"without {name}: {record.absent[name]}", highlight=False)
            keep(record)
        for name, setting in record.settings.items():
            console.print(f"{name}, {setting}", highlight=False, markup=False)
        return record
