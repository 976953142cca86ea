"""``make bench``: speed against the floors that PostgreSQL itself sets, in one run on one durable server.

Figures are medians of runs in turn; quote the ratios, for machines differ and are shared.
"""

from __future__ import annotations

import argparse
import shutil

import batches
import floor
import psycopg
from rich.console import Console
from rich.table import Table

from howdah.engine.embedded import EmbeddedServer
from howdah.migrations import migrate


def main() -> None:
    """Start a server, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="pairs of runs a row")
    parser.add_argument("--transactions", type=int, default=8000, help="messages a run")
    parser.add_argument("--connections", type=int, nargs="+", default=[1, 4, 16])
    options = parser.parse_args()
    console = Console()
    folder = floor.scratch()
    server = EmbeddedServer(folder)
    dsn = server.start().dsn
    try:
        migrate(dsn)
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute("select howdah.create_queue('bench')")
            connection.execute(floor.SETUP.encode())
            settings = dict(
                connection.execute(
                    "select name, setting from pg_settings where name in ('fsync', 'synchronous_commit')"
                )
            )
        console.print(
            f"PostgreSQL {server.version}, {settings}, journal_level exits, medians of {options.rounds} pairs"
        )
        table = Table(
            "work",
            "connections",
            "Howdah /s",
            "floor /s",
            "ratio",
            title="Against the bare statements",
            title_justify="left",
        )
        for pair in floor.PAIRS[:]:
            for connections in options.connections:
                with console.status(f"{pair.name}, {connections} connections"):
                    row = floor.measure(server, dsn, pair, connections, options.rounds, options.transactions)
                table.add_row(
                    row.name,
                    str(row.connections),
                    f"{row.ours_per_second:,.0f}",
                    f"{row.floor_per_second:,.0f}",
                    f"{row.ratio:.2f}",
                )
        console.print(table)
        table = Table(
            "bad messages",
            "way",
            "messages /s",
            title="Batches of 100 through a worker's session",
            title_justify="left",
        )
        with console.status("batches with bad messages"):
            for bad, way, rate in batches.measure(dsn, max(1, options.rounds // 2)):
                table.add_row(bad, way, f"{rate:,.0f}")
        console.print(table)
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
