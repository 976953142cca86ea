"""Links between the databases of a test: their steps one by one, for tests that break in between."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import psycopg
from support import Db, column, one

from howdah.engine.calls import links as calls
from howdah.engine.calls.links import Taken
from howdah.engine.database.runner import run

VARIABLE = "HOWDAH_TEST_TARGET"


def create(source: Db, name: str = "to_b", queue: str = "out", target: str = "in", **options: Any) -> None:
    """Create a link whose target a variable names."""
    given = {"dsn_env": VARIABLE} | options
    arguments = ", ".join(f"{key} => %s" for key in given)
    source.execute(
        f"select howdah.create_link(%s, %s, %s, {arguments})".encode(), (name, queue, target, *given.values())
    )


@dataclass
class Steps:
    """A forwarder of one link, step by step."""

    source_dsn: str
    target_dsn: str
    name: str = "to_b"
    holder: str = "me"

    def __post_init__(self) -> None:
        """Connect to both."""
        self.source = psycopg.connect(self.source_dsn)
        self.target = psycopg.connect(self.target_dsn)
        self.engine_id = run(self.target, calls.engine())
        self.target.commit()

    def take(self, most: int | None = None) -> Taken:
        """Take a batch and leave the transaction open."""
        return run(self.source, calls.take(self.name, self.holder, self.engine_id, most))

    def arrive(self, taken: Taken) -> tuple[int, int]:
        """Store a batch and leave the transaction open."""
        return run(self.target, calls.arrive(self.name, taken))

    def forward(self, most: int | None = None) -> int:
        """Forward one batch. Returns how many messages it had."""
        taken = self.take(most)
        if taken.state == "batch":
            self.arrive(taken)
        self.target.commit()
        self.source.commit()
        return taken.taken or 0

    def forward_all(self, most: int | None = None) -> None:
        """Forward until nothing is left."""
        while self.forward(most):
            pass

    def close(self) -> None:
        """Break both connections."""
        self.source.close()
        self.target.close()


def bodies(db: Db, queue: str = "in") -> list[str]:
    """What lies in a queue, in its order."""
    return column(db, "select body from howdah.browse(%s, 10000)", (queue,))


def in_transit(db: Db) -> int:
    """Messages that arrived and are not known to be consumed."""
    count: int = one(db, "select coalesce(sum(in_transit), 0)::integer from howdah.list_arrivals()")
    return count
