"""A load of many messages in one transaction by a Python client: COPY of ours, batches of ours, and a bare COPY."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import islice, repeat

from ..engine import Session, connect
from .bench import BODY, QUEUE, Bench, opened, settle, timed
from .record import OURS

ROW = "load"
BARE = "bare COPY into a table with one key"
BATCHES = "send_many, 1,000 a call"
FLOOR = (
    "create table loaded (id bigint generated always as identity primary key, rank smallint default 4,"
    " sent_at timestamptz default clock_timestamp(), body text)"
)


def _copied(session: Session, messages: int) -> None:
    session.send_copy(QUEUE, repeat(BODY, messages))
    session.commit()


def _batched(session: Session, messages: int) -> None:
    bodies = repeat(BODY, messages)
    while batch := list(islice(bodies, 1000)):
        session.send_many(QUEUE, batch)
    session.commit()


WAYS: dict[str, Callable[[Session, int], None]] = {OURS: _copied, BATCHES: _batched}


def measure(bench: Bench) -> None:
    """Each way in turn, into a database of its own each time."""
    messages = max(bench.size.backlog // 10, 1000)
    case = f"{messages:,} messages, one transaction"
    for _ in range(bench.size.rounds):
        for who, way in WAYS.items():
            with (
                bench.database() as dsn,
                connect(dsn, max_size=1) as connection,
                connection.session() as session,
                bench.meter() as meter,
            ):
                seconds = timed(partial(way, session, messages))
            bench.record.add(ROW, case, who, "/s", messages / seconds, cost=meter.cost(messages))
        with bench.database() as dsn, bench.meter() as meter:
            seconds = _bare(dsn, messages)
        bench.record.add(ROW, case, BARE, "/s", messages / seconds, cost=meter.cost(messages))


def _bare(dsn: str, messages: int) -> float:
    with opened(dsn) as connection:
        connection.execute(FLOOR.encode())
        settle(connection, "loaded")

        def load() -> None:
            with connection.cursor() as cursor, cursor.copy("copy loaded (body) from stdin (format binary)") as copy:
                copy.set_types(["text"])
                for row in repeat((BODY,), messages):
                    copy.write_row(row)

        return timed(load)
