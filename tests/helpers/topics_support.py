"""What tests of topics import: calls in short."""

from __future__ import annotations

from typing import Any

from psycopg.types.json import Jsonb
from support import Clock, Db, column, one, receive


def topic(db: Db, name: str = "t", **options: Any) -> int:
    number: int = one(db, "select howdah.create_topic(%s, %s)", (name, Jsonb(options)))
    return number


def subscribe(db: Db, name: str | None = "s", to: str = "t", **arguments: Any) -> str:
    """A subscription's name; options as a dict."""
    names = "".join(f", {key} => %s" for key in arguments)
    values = [Jsonb(value) if isinstance(value, dict) else value for value in arguments.values()]
    made: str = one(db, f"select howdah.subscribe(%s, %s{names})", (to, name, *values))
    return made


def publish(db: Db, *bodies: str, to: str = "t", **options: Any) -> list[int]:
    names = "".join(f", {key} => %s" for key in options)
    values = [Jsonb(value) if isinstance(value, dict) else value for value in options.values()]
    return [one(db, f"select howdah.send(%s, %s{names})", (to, body, *values)) for body in bodies]


def bodies(db: Db, subscription: str = "t::s", n: int = 100, verb: str = "receive") -> list[str | None]:
    return [message.body for message in receive(db, subscription, n, verb)]


def consume(db: Db, subscription: str, *numbers: int) -> None:
    """Consume what receive_locked holds."""
    one(
        db,
        "select howdah.consume_locked(%s, %s, %s, %s)",
        (subscription, list(numbers), [4] * len(numbers), [number // 1_000_000 for number in numbers]),
    )


def ring(db: Db) -> list[str]:
    """The states of the ring's tables, by slot."""
    return column(db, "select state from howdah.topic_ring order by slot")


def stored(db: Db) -> int:
    """Rows of topic messages there are, whoever has read them."""
    number: int = one(
        db,
        " select (select count(*) from howdah.topic_msgs_0) + (select count(*) from howdah.topic_msgs_1)"
        " + (select count(*) from howdah.topic_msgs_2) + (select count(*) from howdah.topic_nonpersistent_0)"
        " + (select count(*) from howdah.topic_nonpersistent_1) + (select count(*) from howdah.topic_nonpersistent_2)",
    )
    return number


def rotate(db: Db, clock: Clock) -> str:
    """Let the time of a table pass: turned away from, closed and, where nobody needs it, emptied."""
    clock.advance(601)
    said: list[str] = [one(db, "select howdah.maintain_topics()") for _ in range(2)]
    return "; ".join(part for part in said if part)


def maintain(db: Db) -> str:
    said: str = one(db, "select howdah.maintain_subscriptions()")
    return said


def listed(db: Db, wanted: str, subscription: str = "t::s") -> Any:
    """What the list says of a subscription: a value, or a row of them."""
    rows = db.execute(
        f"select {wanted} from howdah.list_subscriptions() where subscription = %s".encode(), (subscription,)
    )
    (row,) = rows.fetchall()
    return row if len(row) > 1 else row[0]
