"""howdah import activemq, from a store that a real ActiveMQ wrote: recorded, running and stopped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from activemq_broker import restore
from command import Result, howdah
from support import Db

PENDING = (
    "select container, priority, expiration, msgid_seq from {} where (expiration = 0 or expiration >"
    " extract(epoch from now()) * 1000) order by container, id"
)


@pytest.fixture
def store(new_database: Callable[[], str]) -> str:
    """A recorded store in a database of its own."""
    dsn = new_database()
    restore(dsn)
    return dsn


def run(dsn: str, store: str, *words: object) -> Result:
    return howdah(dsn, "import", "activemq", "--from", store, *words)


def lines(result: Result) -> dict[str, Any]:
    return {row["there"]: row for row in result.json}


def test_the_recorded_store_comes_over(dsn: str, db: Db, store: str) -> None:
    said = run(dsn, store, "--final", "--json")
    print(said)
    assert said.code == 0
