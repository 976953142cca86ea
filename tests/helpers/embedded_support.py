"""What tests of the embedded server import: one query, and a start by another process."""

import subprocess
import sys
from pathlib import Path

import psycopg

START = "import sys; from howdah.engine.embedded import EmbeddedServer as E; "


def ask(dsn: str, query: str) -> object:
    with psycopg.connect(dsn) as connection:
        row = connection.execute(query.encode()).fetchone()
        assert row is not None
        return row[0]


def starter(folder: Path, then: str = "") -> subprocess.Popen[str]:
    """Another process that starts the server, prints its pid and does `then`."""
    code = f"{START} print(E(sys.argv[1]).start().pid, flush=True); {then}"
    return subprocess.Popen([sys.executable, "-c", code, str(folder)], stdout=subprocess.PIPE, text=True)
