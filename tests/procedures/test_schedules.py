"""Whatever sessions do to each other, each committed message is consumed once.

Random schedules, direct and behind a pooler.
"""

from __future__ import annotations

import itertools
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from chance import seeds
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from schedules import count, run_many
from support import wait_until


def test_random_schedules_lose_and_double_nothing(dsn: str) -> None:
    print(run_many(dsn, dsn, seeds(count())))


@pytest.fixture
def pooler(dsn: str, tmp_path: Path) -> Iterator[str]:
    """PgBouncer in transaction mode before the test's database: its DSN.

    A client's next transaction may get another connection.
    """
    program = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin:/usr/local/sbin")
    if program is None:
        pytest.skip("no pgbouncer installed")
    target = conninfo_to_dict(dsn)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    users = tmp_path / "users.txt"
    users.write_text(f'"{target["user"]}" "{target["password"]}"\n')
    (tmp_path / "pgbouncer.ini").write_text(
        f"[databases]\n{target['dbname']} = host={target['host']} port={target['port']} password={target['password']}\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nauth_type = plain\nauth_file = {users}\n"
        "pool_mode = transaction\ndefault_pool_size = 8\nunix_socket_dir =\n"
    )
    # It refuses to run as root; its own account must read the folder then.
    as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if Path.home() == Path("/root") else []
    for path in (tmp_path, *tmp_path.iterdir()):
        path.chmod(0o755)
    # pytest's own folders up to the system's: two, or three in a process of pytest-xdist.
    for parent in itertools.takewhile(lambda parent: parent != Path(tempfile.gettempdir()), tmp_path.parents[:3]):
        parent.chmod(0o755)
    process = subprocess.Popen(
        [*as_nobody, program, str(tmp_path / "pgbouncer.ini")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    pooled = make_conninfo(dsn, host="127.0.0.1", port=port)

    def answers() -> bool:
        assert process.poll() is None, "pgbouncer ended"
        try:
            psycopg.connect(pooled).close()
        except psycopg.OperationalError:
            return False
        return True

    try:
        wait_until(answers)
        yield pooled
    finally:
        process.terminate()
        process.wait(30)


def test_behind_a_transaction_pooler_random_schedules_lose_and_double_nothing(dsn: str, pooler: str) -> None:
    print(run_many(pooler, dsn, seeds(max(count() // 10, 1))))
