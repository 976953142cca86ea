"""One scenario through Python and through plain SQL, the face of every other language; and the parts of the product."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any, Protocol

import psycopg
import pytest
from support import Db, column, one

from howdah.engine import ConnectionFactory, calls
from howdah.engine.errors import HowdahError
from howdah.engine.handling.failure import sqlstate_of


class Client(Protocol):
    """What the scenario needs of a client."""

    def create(self, queue: str) -> None: ...
    def send(self, queue: str, body: str, priority: int, headers: dict[str, Any]) -> int: ...
    def browse(self, queue: str) -> list[tuple[Any, ...]]: ...
    def receive(self, queue: str) -> list[tuple[Any, ...]]: ...
    def fail(self, queue: str, message_id: int, text: str) -> tuple[int, str]: ...
    def commit(self) -> None: ...
    def rollback(self) -> None: ...
    def close(self) -> None: ...


class PythonClient:
    """Through connection, session, producer, consumer and browser."""

    def __init__(self, dsn: str) -> None:
        self.connection = ConnectionFactory(dsn).create_connection()
        self.connection.start()
        self.session = self.connection.session()

    def create(self, queue: str) -> None:
        self.connection.admin.create_queue(queue)

    def send(self, queue: str, body: str, priority: int, headers: dict[str, Any]) -> int:
        return self.session.producer(queue).send(body, priority=priority, headers=headers)

    def browse(self, queue: str) -> list[tuple[Any, ...]]:
        return [(m.body, m.priority, m.headers) for m in self.session.browser(queue)]

    def receive(self, queue: str) -> list[tuple[Any, ...]]:
        message = self.session.consumer(queue).receive_nowait()
        return [] if message is None else [(message.body, message.priority, message.headers, message.redelivered)]

    def fail(self, queue: str, message_id: int, text: str) -> tuple[int, str]:
        (incident,) = self.connection.call(
            calls.record_failures(queue, [{"message_id": message_id, "error_text": text}])
        )
        return incident.attempt, incident.outcome

    def commit(self) -> None:
        self.session.commit()

    def rollback(self) -> None:
        self.session.rollback()

    def close(self) -> None:
        self.connection.close()


class SqlClient:
    """Through SQL text alone."""

    def __init__(self, dsn: str) -> None:
        self.own = psycopg.connect(dsn)
        self.other = psycopg.connect(dsn, autocommit=True)

    def create(self, queue: str) -> None:
        self.other.execute("select howdah.create_queue(%s)", (queue,))

    def send(self, queue: str, body: str, priority: int, headers: dict[str, Any]) -> int:
        row = self.own.execute(
            "select howdah.send(%s, %s::text, headers => %s, priority => %s)",
            (queue, body, psycopg.types.json.Jsonb(headers), priority),
        ).fetchone()
        assert row is not None
        return int(row[0])

    def browse(self, queue: str) -> list[tuple[Any, ...]]:
        return self.own.execute("select body, priority, headers from howdah.browse(%s)", (queue,)).fetchall()

    def receive(self, queue: str) -> list[tuple[Any, ...]]:
        return self.own.execute(
            "select body, priority, headers, redelivered from howdah.receive(%s)", (queue,)
        ).fetchall()

    def fail(self, queue: str, message_id: int, text: str) -> tuple[int, str]:
        row = self.other.execute(
            "select attempt, outcome from howdah.record_failure(%s, %s, error_text => %s)", (queue, message_id, text)
        ).fetchone()
        assert row is not None
        return row[0], row[1]

    def commit(self) -> None:
        self.own.commit()

    def rollback(self) -> None:
        self.own.rollback()

    def close(self) -> None:
        self.own.close()
        self.other.close()


@pytest.mark.first_case
@pytest.mark.behaviour("AMQ-02")
@pytest.mark.parametrize("make", [PythonClient, SqlClient])
def test_the_same_scenario_through_python_and_sql(db: Db, dsn: str, make: Callable[[str], Client]) -> None:
    client = make(dsn)
    client.create("orders")
    for refused, sqlstate in (("orders", "HD002"), ("no good", "HD003")):
        with pytest.raises((HowdahError, psycopg.Error)) as caught:
            client.create(refused)
        assert sqlstate_of(caught.value) == sqlstate

    low = client.send("orders", "low", 1, {"shop": "north"})
    high = client.send("orders", "high", 8, {})
    client.rollback()
    assert client.receive("orders") == []
    client.rollback()
    low = client.send("orders", "low", 1, {"shop": "north"})
    high = client.send("orders", "high", 8, {})
    client.commit()
    assert client.browse("orders") == [("high", 8, {}), ("low", 1, {"shop": "north"})]

    assert client.receive("orders") == [("high", 8, {}, False)]
    client.rollback()
    assert client.fail("orders", high, "broken") == (1, "returned")
    assert client.receive("orders") == [("high", 8, {}, True)]
    assert client.receive("orders") == [("low", 1, {"shop": "north"}, False)]
    assert client.receive("orders") == []
    client.commit()
    client.close()
    assert column(db, "select unnest(message_ids) from howdah.journal where event = 'consumed' order by 1") == [
        low,
        high,
    ]
    assert one(db, "select error_text from howdah.poison_details") == "broken"


@pytest.mark.behaviour("IMQ-17")
def test_no_control_record_is_ever_received(dsn: str, db: Db) -> None:
    client = PythonClient(dsn)
    admin = client.connection.admin
    client.create("orders")
    worker = admin.register_worker("w", "here", 1, 1, ["orders"])
    admin.heartbeat(worker, {"orders": 1})
    epoch = admin.acquire_lock("maintenance", "w")
    sent = client.send("orders", "payload", 4, {})
    client.commit()
    client.receive("orders")
    client.rollback()
    client.fail("orders", sent, "broken")
    for service in ("workers", "totals", "backlog", "journal", "dropped"):
        admin.maintain(service, epoch)
    for table in ("workers", "lock", "poison_details", "destination_grants", "engine"):
        assert one(db, f"select count(*) > 0 from howdah.{table}")
    received = []
    for queue in [row["queue"] for row in admin.list_queues()]:
        while rows := client.receive(queue):
            received += [(queue, row[0]) for row in rows]
    client.commit()
    assert received == [("orders", "payload")]
    assert [row["name"] for row in admin.list_workers()] == ["w"]
    client.close()


@pytest.mark.slow
@pytest.mark.behaviour("IMQ-01")
@pytest.mark.parametrize(
    ("package", "has"),
    [
        ("howdah.schema", "metadata"),
        ("howdah.procedures", "FILES"),
        ("howdah.migrations", "migrate"),
        ("howdah.engine", "connect"),
        ("howdah.workers", "App"),
        ("howdah.audit", ""),
        ("howdah.cli", ""),
    ],
)
def test_each_part_is_a_package_of_its_own(package: str, has: str) -> None:
    """The server's part (schema, procedures), the client runtime (engine), its objects, administration, each alone."""
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import {package} as part; assert part.__doc__; assert hasattr(part, {has!r} or '__doc__')",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert importlib.import_module(package)


@pytest.mark.behaviour("IMQ-01")
@pytest.mark.parametrize("command", ["server", "migrate", "queue", "worker", "audit"])
def test_each_part_has_an_entry_point(command: str) -> None:
    (entry,) = entry_points(group="console_scripts", name="howdah")
    assert callable(entry.load())
    done = subprocess.run(
        [sys.executable, "-c", "import sys; from howdah.cli.main import main; sys.exit(main())", command, "--help"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Usage" in done.stdout
