"""What tests of the engine ask for besides: a connection, a queue and a topic."""

import socket
from collections.abc import Iterator

import pytest
from rare_looks import look_rarely

from howdah.engine import Connection, connect
from howdah.engine.database.waiting import Idle


@pytest.fixture
def connection(dsn: str) -> Iterator[Connection]:
    """A started connection to the test's database."""
    with connect(dsn) as connection:
        yield connection


@pytest.fixture
def orders(connection: Connection) -> str:
    """The name of a queue made for the test."""
    connection.admin.create_queue("orders")
    return "orders"


@pytest.fixture
def prices(connection: Connection) -> str:
    """The name of a topic made for the test."""
    connection.admin.create_topic("prices")
    return "prices"


@pytest.fixture
def dead_port() -> Iterator[int]:
    """A port of this machine where nothing listens: it is taken, so nobody else will."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield int(taken.getsockname()[1])


@pytest.fixture
def rare(monkeypatch: pytest.MonkeyPatch) -> set[Idle]:
    """Receivers that have asked to be woken look only twice a minute, so that what comes sooner was told.

    Returns those that sleep so.
    """
    return look_rarely(monkeypatch)
