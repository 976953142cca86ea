"""What the README shows does what it says, from the first psql session to the worker."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from support import Server, one, wait_until

ROOT = Path(__file__).parents[2]


def blocks(page: str, language: str) -> list[str]:
    """The code blocks of a page in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)


def psql(server: Server, dsn: str, script: str, *options: str) -> str:
    if server.embedded is None:
        pytest.skip("psql comes with the embedded server")
    shown = subprocess.run(
        [server.embedded.bin("psql"), dsn, "-v", "ON_ERROR_STOP=1", *options],
        input=script,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert shown.returncode == 0, shown.stderr
    return shown.stdout


def python(dsn: str, program: str) -> str:
    environment = os.environ | {"HOWDAH_DSN": dsn}
    return subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True, timeout=60
    ).stdout


@contextmanager
def working(dsn: str, folder: Path, module: str) -> Iterator[None]:
    """`howdah worker` on the module's app, stopped with SIGTERM at the end."""
    (folder / "shop.py").write_text(module)
    process = subprocess.Popen(
        [sys.executable, "-m", "howdah.cli.main", "worker", "shop:app"],
        cwd=folder,
        env=os.environ | {"HOWDAH_DSN": dsn},
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        process.terminate()
        assert process.wait(30) == 0


def test_the_readme_in_order(server: Server, dsn: str, tmp_path: Path) -> None:
    (session,) = blocks("README.md", "sql")
    shown = psql(server, dsn, session)
    assert shown.index("flat white") < shown.index("one espresso")
    assert "ROLLBACK" in shown
    with psycopg.connect(dsn, autocommit=True) as db:
        assert one(db, "select live from howdah.queue_stats('orders')") == 1
        receiving, mine, worker, _ = blocks("README.md", "python")
        assert python(dsn, receiving).count("\n") == 2
        python(dsn, mine)
        with working(dsn, tmp_path, worker):
            wait_until(lambda: one(db, "select count(*) from brewed where item = 'mocha'") == 1)


def test_getting_started_in_order(server: Server, dsn: str, tmp_path: Path) -> None:
    with psycopg.connect(dsn, autocommit=True) as db:
        one(db, "select howdah.create_queue('orders', '{\"max_failed_deliveries\": 3, \"redelivery_delay_ms\": 1000}')")
        grant, tables, sending = blocks("docs/getting-started.md", "sql")
        assert "grant howdah_producer" in grant
        psql(server, dsn, tables + sending)
        (worker,) = blocks("docs/getting-started.md", "python")
        with working(dsn, tmp_path, worker):
            wait_until(lambda: one(db, "select live from howdah.queue_stats('served')") == 1)
        assert one(db, "select count(*) from orders where brewed is not null") == 1
        assert one(db, "select count(*) from howdah.incidents()") == 0


def test_leases_in_order(server: Server, dsn: str) -> None:
    (session,) = blocks("docs/leases.md", "sql")
    psql(server, dsn, session)
    with psycopg.connect(dsn, autocommit=True) as db:
        assert one(db, "select count(*) from howdah.audit_journal where event = 'consumed'") == 1


def test_the_page_of_topics_returns_what_it_shows(server: Server, dsn: str) -> None:
    session = "".join(blocks("docs/topics.md", "sql"))
    returned = psql(server, dsn, session, "-Atq").splitlines()
    shown = re.findall(r"-- → (.*)", session)
    assert len(shown) > 40
    left = iter(returned)
    for expected in shown:
        assert expected in left, f"{expected} is not returned, or not in its place: {returned}"
