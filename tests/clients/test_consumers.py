"""The consumers of examples/, in Java, Node and Go.

Each waits, is woken, and records its failures, with and without PgBouncer.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import time
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest
import runtimes
from example_consumers import EXAMPLES, Start, go, go_packages, java, jdbc, node, running, url
from pages import blocks
from poolers import PGBOUNCER, pooler
from support import Db, column, one, wait_until

from howdah.engine.errors import is_innocent

TIMEOUT = 20


def tell(what: str, said: list[str]) -> None:
    """Wait until the consumer has said something; if it does not, say what it said."""
    with suppress(AssertionError):
        wait_until(lambda: what in said, TIMEOUT)
    assert what in said


def is_woken(db: Db, said: list[str]) -> None:
    """It says that a notification ended its sleep."""

    def woken() -> bool:
        time.sleep(0.3)  # a queue that gets a message more often sends no notification
        one(db, "select howdah.send('orders', 'more')")
        return "woken" in said

    wait_until(woken, TIMEOUT)


def shows_a_life(db: Db, said: list[str]) -> None:
    """A message is handled; one that fails is tried twice and then set aside, with its incidents."""
    one(db, "select howdah.send('orders', 'first')")
    tell("handled first", said)
    one(db, "select howdah.send('orders', 'fail')")
    tell("failed fail: returned", said)
    one(db, "select howdah.send('orders', 'last')")
    tell("handled last", said)
    tell("failed fail: moved", said)
    assert column(db, "select error_text from howdah.poison_details") == ["this message cannot be handled"] * 2
    assert column(db, "select body from howdah.msgs where body = 'fail' and dead_at is null") == []
    # A message in bytes has no text. It is handled as others are, and holds up none.
    one(db, "select howdah.send('orders', '\\x00ff'::bytea)")
    wait_until(lambda: column(db, "select body from howdah.browse('orders')") == [], TIMEOUT)
    db.execute("delete from brewed where item is null or item = ''")
    # What a handler writes is there with its message, and away with its failure.
    assert column(db, "select item from brewed order by item") == ["first", "last"]


@pytest.fixture
def orders(db: Db) -> Db:
    one(db, """select howdah.create_queue('orders', '{"max_failed_deliveries": 2}')""")
    db.execute("create table brewed (item text)")
    return db


@pytest.mark.parametrize("file", ["Consumer.java", "consumer.mjs", "consumer.go"])
def test_the_consumers_blame_a_message_for_what_workers_blame_it_for(file: str) -> None:
    (pattern,) = re.findall(r"\(08\|.*?\)", (EXAMPLES / file).read_text())
    states = ["08006", "40001", "40P01", "53100", "55P03", "57P01", "57P03", "58030", "XX001", "XX002"]
    states += ["55000", "57014", "22012", "23505", "54000", "P0001", "XX000"]
    for state in states:
        error = type("Error", (psycopg.Error,), {"sqlstate": state})()
        assert bool(re.match(pattern, state)) is is_innocent(error), state
    page = (EXAMPLES.parent / "docs/waiting.md").read_text().replace(" or ", ", ")
    (named,) = re.findall(r"SQLSTATEs that begin\s+with ([\w, ]+)\)", page)
    assert "|".join(named.split(", ")).replace("XX001|XX002", "XX00[12]") == pattern.strip("()")


LANGUAGES = pytest.mark.parametrize(
    "start", [java, node, pytest.param(go, marks=pytest.mark.slow)]
)  # Go compiles its driver


@pytest.mark.slow
@LANGUAGES
def test_a_consumer_in_another_language_is_woken(start: Start, dsn: str, orders: Db, tmp_path: Path) -> None:
    with running(*start(tmp_path, dsn, dsn)) as said:
        shows_a_life(orders, said)
        is_woken(orders, said)
        # It goes on without its listener, and has another soon.
        column(orders, "select pg_terminate_backend(pid) from pg_stat_activity where query = 'listen howdah'")
        one(orders, "select howdah.send('orders', 'after')")
        tell("handled after", said)
        wait_until(
            lambda: one(orders, "select count(*) from pg_stat_activity where query = 'listen howdah'") == 1, TIMEOUT
        )


(LINES,) = blocks("docs/waiting.md", "sh")


@pytest.mark.slow
@pytest.mark.parametrize("line", LINES.splitlines(), ids=lambda line: line.split()[0])
def test_a_consumer_starts_by_the_line_of_the_page(line: str, dsn: str, orders: Db, tmp_path: Path) -> None:
    (tmp_path / "postgresql.jar").symlink_to(runtimes.jdbc_jar())
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    environment = {"PATH": os.pathsep.join([str(runtimes.java().parent), os.environ["PATH"]])}
    parameters: dict[str, str] = {}
    if line.startswith("node"):
        (tmp_path / "node_modules").symlink_to(runtimes.node_modules())
    if line.startswith("go"):
        own, parameters = go_packages(tmp_path / "examples")
        environment |= own
    for shown, real in (
        ("'jdbc:postgresql://host/db?user=u'", jdbc(dsn)),
        ("postgresql://u@host/db", url(dsn, **parameters)),
    ):
        line = re.sub(re.escape(shown), lambda _, real=real: shlex.quote(real), line)  # type: ignore[misc]
    assert "host/db" not in line
    with running(["bash", "-c", line], environment, tmp_path) as said:
        shows_a_life(orders, said)
        is_woken(orders, said)


@pytest.mark.slow
@LANGUAGES
@pytest.mark.parametrize("listens", [True, False], ids=["listens to the server", "does not listen"])
@pytest.mark.skipif(PGBOUNCER is None, reason="needs pgbouncer")
def test_a_consumer_in_another_language_works_behind_a_pooler(
    start: Start, listens: bool, dsn: str, orders: Db, tmp_path: Path
) -> None:
    listening = [dsn] if listens else []
    with pooler(dsn) as pooled, running(*start(tmp_path, pooled, *listening)) as said:
        shows_a_life(orders, said)
        if listens:
            is_woken(orders, said)
        else:
            assert "woken" not in said
        queries = column(orders, "select query from pg_stat_activity where query = 'listen howdah'")
        assert len(queries) == len(listening)


@pytest.mark.slow
@LANGUAGES
def test_a_consumer_in_another_language_outlives_its_connection(
    start: Start, dsn: str, orders: Db, tmp_path: Path
) -> None:
    with running(*start(tmp_path, dsn)) as said:
        one(orders, "select howdah.send('orders', 'first')")
        tell("handled first", said)
        with psycopg.connect(dsn, autocommit=True) as admin:
            admin.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()"
                " and query ~ 'howdah.receive' and pid <> pg_backend_pid()"
            )
        one(orders, "select howdah.send('orders', 'second')")
        tell("handled second", said)
    assert column(orders, "select * from howdah.poison_details") == []


@pytest.mark.slow
@LANGUAGES
def test_a_consumer_in_another_language_ends_with_the_message_in_hand_when_it_is_told_to(
    start: Start, dsn: str, orders: Db, tmp_path: Path
) -> None:
    """SIGTERM comes while the handler waits for a lock of ours: the message is consumed, and the next one stays."""
    with psycopg.connect(dsn) as holding, running(*start(tmp_path, dsn, dsn)) as said:
        one(orders, "select howdah.send('orders', 'warm')")
        tell("handled warm", said)
        holding.execute("lock table brewed in share mode")
        one(orders, "select howdah.send('orders', 'first')")
        blocked = (
            "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query ~ 'insert into brewed'"
        )
        wait_until(lambda: one(orders, blocked) == 1, TIMEOUT)
        said.process.terminate()
        tell("stopping", said)
        one(orders, "select howdah.send('orders', 'second')")
        holding.rollback()
        said.process.wait(TIMEOUT)
        tell("stopped", said)
    assert column(orders, "select item from brewed order by item") == ["first", "warm"]
    assert column(orders, "select body from howdah.browse('orders')") == ["second"]


CRASHES = {
    java: ("Consumer.java", "throw new IllegalStateException(", "throw new StackOverflowError("),
    go: ("consumer.go", "return errors.New(", "panic("),
}


@pytest.mark.slow
@pytest.mark.parametrize("start", CRASHES)
def test_a_crash_of_the_handler_is_a_failure_of_its_message(
    start: Start, dsn: str, orders: Db, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A panic in Go does not end the program. An error of the virtual machine does in Java, once it is on record."""
    file, fails, crashes = CRASHES[start]
    changed = (EXAMPLES / file).read_text().replace(fails, crashes)
    assert crashes in changed
    (tmp_path / file).write_text(changed)
    monkeypatch.setattr("example_consumers.EXAMPLES", tmp_path)
    one(orders, "select howdah.send('orders', 'fail')")
    with running(*start(tmp_path, dsn)) as said:
        tell("failed fail: returned", said)
        if start is java:
            assert said.process.wait(TIMEOUT) == 1
        else:
            tell("failed fail: moved", said)
    assert "this message cannot be handled" in one(orders, "select min(error_text) from howdah.poison_details")
    assert column(orders, "select item from brewed") == []
