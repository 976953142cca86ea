"""What tests of the engine ask for besides: a connection and a queue."""

import socket
from collections.abc import Iterator

import pytest

from howdah.engine import Connection, connect


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
def dead_port() -> int:
    """A port of this machine where nothing listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])
