"""A PgBouncer in transaction mode in front of a test's database."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict
from support import wait_until

PGBOUNCER = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")


@contextmanager
def pooler(dsn: str) -> Iterator[str]:
    """The DSN of the same database through a pooler that gives a client a backend for one transaction."""
    server = conninfo_to_dict(dsn)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        settings = Path(folder) / "pgbouncer.ini"
        backend = " ".join(
            f"{name}={server[name]}" for name in ("host", "port", "user", "password", "dbname") if name in server
        )
        settings.write_text(
            f"[databases]\npooled = {backend}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port ="
            f" {port}\nunix_socket_dir =\n"
            "auth_type = any\npool_mode = transaction\ndefault_pool_size ="
            " 3\nignore_startup_parameters = extra_float_digits\n"
        )
        user = "nobody" if os.geteuid() == 0 else None
        assert PGBOUNCER is not None
        running = subprocess.Popen([PGBOUNCER, "-q", str(settings)], user=user, stderr=subprocess.DEVNULL)
        through = f"postgresql://{server['user']}@127.0.0.1:{port}/pooled"

        def answers() -> bool:
            with suppress(psycopg.OperationalError):
                psycopg.connect(through).close()
                return True
            return False

        try:
            wait_until(answers)
            yield through
        finally:
            running.terminate()
            running.wait()
