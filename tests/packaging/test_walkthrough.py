"""Pages whose blocks do not run by themselves yet do what they say, each in its own way."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from pages import blocks
from support import Server, one, wait_until


def psql(server: Server, dsn: str, script: str, *options: str) -> str:
    if server.embedded is None:
        pytest.skip("psql comes with the embedded server")
    shown = subprocess.run(
        [server.embedded.bin("psql"), dsn, "-v", "ON_ERROR_STOP=1", *options],
        input=script,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,  # notices are among what a page shows
        text=True,
        check=False,
        timeout=120,
    )
    assert shown.returncode == 0, shown.stdout
    return shown.stdout


def python(dsn: str, program: str) -> str:
    environment = os.environ | {"HOWDAH_DSN": dsn}
    return subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True, timeout=120
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
        assert process.wait(60) == 0


def test_leases_in_order(server: Server, dsn: str) -> None:
    check_returned(server, dsn, "docs/leases.md", 25)


def test_the_page_of_sessions_does_what_it_says(server: Server, dsn: str) -> None:
    python(dsn, "".join(blocks("docs/sessions.md", "python")) + "connection.close()\n")
    check_returned(server, dsn, "docs/sessions.md", 6)


def test_schedules_in_python_in_order(server: Server, dsn: str, tmp_path: Path) -> None:
    with psycopg.connect(dsn, autocommit=True) as db:
        one(db, "select howdah.create_queue('reminders')")
        using, worker = blocks("docs/scheduling.md", "python")
        assert python(dsn, using).count("\n") == 2
        with working(dsn, tmp_path, worker.replace("app = ", "app = shop = ")):
            query = "select count(*) from howdah.list_schedules() where name = 'backup' and next_at is not null"
            wait_until(lambda: one(db, query) == 1)


def check_returned(server: Server, dsn: str, page: str, at_least: int) -> None:
    """Run a page's SQL and look for what it shows, in order: rows and notices."""
    session = "".join(blocks(page, "sql"))
    returned = [line.removeprefix("NOTICE:  ") for line in psql(server, dsn, session, "-Atq").splitlines()]
    shown = re.findall(r"-- → (.*)", session)
    assert len(shown) >= at_least
    left = iter(returned)
    for expected in shown:
        assert expected in left, f"{expected} is not returned, or not in its place: {returned}"


@pytest.mark.parametrize(
    ("page", "least"),
    [
        ("docs/topics.md", 24),
        ("docs/running-topics.md", 24),
        ("docs/limits.md", 24),
        ("docs/selectors.md", 12),
        ("docs/scheduling.md", 16),
        ("docs/consumers.md", 43),
        ("docs/streaming.md", 2),
        ("docs/audit-schedule.md", 2),
        ("docs/handling-failures.md", 1),
        ("docs/archive.md", 5),
        ("docs/poison.md", 4),
        ("docs/hardened-queues.md", 4),
        ("docs/listeners.md", 6),
    ],
)
def test_a_page_returns_what_it_shows(server: Server, dsn: str, page: str, least: int) -> None:
    check_returned(server, dsn, page, least)


@pytest.mark.behaviour("AMQ-01")
@pytest.mark.behaviour("AMQ-13")
def test_psql_alone_sends_receives_and_acknowledges(server: Server, dsn: str) -> None:
    check_returned(server, dsn, "docs/producers.md", 20)


def test_the_page_of_producers_in_python(dsn: str) -> None:
    (program,) = blocks("docs/producers.md", "python")
    with psycopg.connect(dsn, autocommit=True) as db:
        one(db, "select howdah.create_queue('orders')")
        python(dsn, program)
        assert one(db, "select live from howdah.queue_stats('orders')") == 1000


def test_the_page_of_consumers_in_python(dsn: str) -> None:
    (program,) = blocks("docs/consumers.md", "python")
    with psycopg.connect(dsn, autocommit=True) as db:
        one(db, "select howdah.create_queue('trades')")
        one(db, """select howdah.create_queue('ledger', '{"delivery_policy": "failover"}')""")
        for body, price in (("dear", 120), ("cheap", 80)):
            one(db, "select howdah.send('trades', %s, jsonb_build_object('price', %s::integer))", (body, price))
        one(db, "select howdah.send('ledger', 'entry')")
        dear, entry, cheap = python(dsn, program).splitlines()
        assert (dear, entry) == ("['dear']", "['entry']")
        assert "['cheap']" in cheap
        assert one(db, "select sum(consumed) from howdah.queue_stats()") == 3


def test_request_and_reply_from_psql_to_psql(server: Server, dsn: str) -> None:
    check_returned(server, dsn, "docs/request-reply.md", 23)


def test_request_and_reply_from_python_to_a_worker(dsn: str, tmp_path: Path) -> None:
    asking, answering = blocks("docs/request-reply.md", "python")
    with psycopg.connect(dsn, autocommit=True) as db:
        one(db, "select howdah.create_queue('prices')")
        with working(dsn, tmp_path, answering):
            # The page's time-out is for an answer, not for the worker's start.
            wait_until(lambda: one(db, "select count(*) from howdah.list_workers()") > 0)
            assert python(dsn, asking) == "IBM 42.17\n['IBM 42.17', 'SUN 42.17']\n"
        assert one(db, "select live from howdah.queue_stats('prices')") == 0
