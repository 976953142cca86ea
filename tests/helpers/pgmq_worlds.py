"""The real pgmq and the facade side by side: two databases, one clock, the same calls."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from typing import Any

import psycopg

from howdah.migrations import add_facade

Row = tuple[Any, ...]
BEGIN = datetime(2030, 1, 1, tzinfo=UTC)
CLOCK = """create schema howdah_test;
create sequence howdah_test.clock minvalue -9000000000000000000;
create function howdah_test.now() returns timestamptz language sql volatile as
    $$ select timestamptz 'epoch' + last_value * interval '1 microsecond' from howdah_test.clock $$"""


def real_sql() -> str:
    """The SQL of pgmq as published in its wheel, reading the tests' clock. Only polls end by the real one."""
    text = (files("pgmq") / "sql" / "pgmq.sql").read_text(encoding="utf-8")
    return "".join(
        line
        if "stop_at" in line
        else re.sub(r"\b(clock_timestamp|now)\(\)", "howdah_test.now()", line, flags=re.IGNORECASE)
        for line in text.splitlines(keepends=True)
    )


def install_real(dsn: str) -> None:
    """Install the real pgmq in an empty database, with the tests' clock."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(CLOCK.encode())
        connection.execute(real_sql().encode())


def install_facade(dsn: str) -> None:
    """Install the facade in a migrated database, with the tests' clock."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(CLOCK.encode())
        connection.execute(
            "grant usage on schema howdah_test to public; grant select on sequence howdah_test.clock to public;"
            " create or replace function howdah.now() returns timestamptz language sql volatile parallel safe as"
            " $$ select timestamptz 'epoch' + last_value * interval '1 microsecond' from howdah_test.clock $$"
        )
    add_facade(dsn, "pgmq")


@dataclass(frozen=True)
class Worlds:
    """Both databases. Each call goes to both, and what they answer must be the same."""

    real: psycopg.Connection[Row]
    facade: psycopg.Connection[Row]

    def set_clock(self, moment: datetime) -> None:
        """Set the clock of both."""
        micros = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
        for world in (self.real, self.facade):
            world.execute("select setval('howdah_test.clock', %s)", (micros,))

    def both(self, query: str, arguments: Row = (), *, ordered: bool = False) -> Any:
        """Run a query in both, and compare the rows or the error. Returns the rows, or the error's code."""
        real = _answer(self.real, query, arguments)
        facade = _answer(self.facade, query, arguments)
        if isinstance(real, list) and isinstance(facade, list) and not ordered:
            real, facade = sorted(real, key=repr), sorted(facade, key=repr)
        assert facade == real, f"{query} {arguments}\nreal:   {real}\nfacade: {facade}"
        return real

    def compare(self) -> None:
        """Compare all that is left: the queues, their archives, bindings and throttles."""
        for (name,) in self.both("select queue_name::text from pgmq.meta"):
            for kind in ("q", "a"):
                self.both(f'select * from pgmq."{kind}_{name.lower()}"')
        self.both("select * from pgmq.meta")
        self.both("select * from pgmq.topic_bindings")
        self.both("select queue_name, throttle_interval_ms from pgmq.notify_insert_throttle")


def _answer(world: psycopg.Connection[Row], query: str, arguments: Row) -> list[Row] | Row:
    try:
        return world.execute(query.encode(), arguments).fetchall()
    except psycopg.Error as error:
        text = error.diag.message_primary if error.sqlstate in ("P0001", "42P01", "2201W") else ""
        return (error.sqlstate, text)


@dataclass
class Caller:
    """Makes random calls of all signatures of pgmq."""

    worlds: Worlds
    chance: random.Random
    moment: datetime = BEGIN

    queues = ("jobs", "Mail-2", "c.d")
    patterns = ("logs.*", "logs.#", "#", "a.*.c", "#.error")
    keys = ("logs.error", "logs.a.error", "a.b.c", "x", "", ".x", "a b")

    def step(self) -> str:
        """Make one call, and compare its answers. Returns its signature."""
        if self.chance.random() < 0.3:
            self.moment += timedelta(seconds=self.chance.choice((0.5, 1, 5, 30)))
            self.worlds.set_clock(self.moment)
        signature = self.chance.choice(self._weighted)
        name, _, kinds = signature.partition("(")
        names = kinds.rstrip(")").split(", ") if kinds != ")" else []
        if name.endswith("_with_poll"):
            names = [*names, "max_poll_seconds integer"]
        if name == "drop_queue" and self.chance.random() < 0.7:
            return ""
        values, shown = [], []
        for argument in names:
            key, kind = argument.split(" ", 1)
            values.append(self._value(name, key, kind))
            shown.append(f"{key} => %s::{kind}")
        self.worlds.both(f"select * from pgmq.{name}({', '.join(shown)})", tuple(values), ordered="_rr" in name)
        return signature

    @property
    def _weighted(self) -> list[str]:
        return [
            *SIGNATURES,
            *(one for one in SIGNATURES if one.startswith(("send", "read", "delete", "archive", "set_vt"))),
        ]

    def _value(self, function: str, key: str, kind: str) -> Any:
        chance = self.chance
        made: dict[str, Callable[[], Any]] = {
            "queue_name text": lambda: chance.choice((*self.queues * 8, "nobody", "bad;name", "x" * 48)),
            "table_name text": lambda: chance.choice(self.queues),
            "msg jsonb": self._message,
            "msgs jsonb[]": lambda: [self._message() for _ in range(chance.choice((1, 2, 3, 3, 3, 0)))],
            "headers jsonb": self._headers,
            "headers jsonb[]": lambda: [self._headers() for _ in range(chance.choice((3, 3, 3, 2)))],
            "delay integer": lambda: chance.choice((0, 0, 1, 5, 60, -3)),
            "delay timestamptz": lambda: self.moment + timedelta(seconds=chance.choice((-5, 0, 2, 60))),
            "vt integer": lambda: chance.choice((0, 1, 5, 30, -2, 1_000_000)),
            "vt timestamptz": lambda: self.moment + timedelta(seconds=chance.choice((-5, 0, 2, 60))),
            "qty integer": lambda: chance.choice((1, 1, 2, 3, 10, 0)),
            "conditional jsonb": lambda: chance.choice(("{}", '{"n": 1}', '{"kind": "a"}', '{"kind": "b", "n": 2}')),
            "msg_id bigint": lambda: chance.choice(
                (chance.randint(1, 60), chance.randint(1, 60), -1, 9223372036854775807)
            ),
            "msg_ids bigint[]": lambda: sorted({chance.randint(1, 60) for _ in range(chance.randint(0, 6))}),
            "max_poll_seconds integer": lambda: 0,
            "pattern text": lambda: chance.choice((*self.patterns * 3, "a..b", "**", "*#", "a b", "", ".a", "a.")),
            "routing_key text": lambda: chance.choice(self.keys),
            "prefix text": lambda: "q",
            "throttle_interval_ms integer": lambda: chance.choice((0, 250, 1000, -1)),
            "partitioned boolean": lambda: chance.choice((True, False)),
        }
        return made[f"{key} {kind}"]()

    def _message(self) -> str | None:
        kind, number = self.chance.choice("ab"), self.chance.randint(1, 3)
        return self.chance.choice((f'{{"kind": "{kind}", "n": {number}}}',) * 9 + (None,))

    def _headers(self) -> str | None:
        usual = (None, '{"x-pgmq-group": "g1"}', '{"x-pgmq-group": "g2"}', '{"trace": 7}')
        return self.chance.choice(usual * 4 + ("[1]", '"x-pgmq-group"', "null", "7", '{"x-pgmq-group": null}'))


def signatures() -> Iterator[str]:
    """All signatures that are called at random: of those with defaults the full and the shortest one."""
    for name, kinds in ALL.items():
        for arguments in kinds:
            yield f"{name}({arguments})"


_SEND = (
    "",
    ", headers jsonb",
    ", delay integer",
    ", delay timestamptz",
    ", headers jsonb, delay integer",
    ", headers jsonb, delay timestamptz",
)
ALL: dict[str, tuple[str, ...]] = {
    "create": ("queue_name text",),
    "create_non_partitioned": ("queue_name text",),
    "create_unlogged": ("queue_name text",),
    "drop_queue": ("queue_name text", "queue_name text, partitioned boolean"),
    "purge_queue": ("queue_name text",),
    "detach_archive": ("queue_name text",),
    "list_queues": ("",),
    "validate_queue_name": ("queue_name text",),
    "format_table_name": ("queue_name text, prefix text",),
    "acquire_queue_lock": ("queue_name text",),
    "send": tuple(f"queue_name text, msg jsonb{more}" for more in _SEND),
    "send_batch": tuple(
        f"queue_name text, msgs jsonb[]{more.replace('headers jsonb', 'headers jsonb[]')}" for more in _SEND
    ),
    "read": ("queue_name text, vt integer, qty integer", "queue_name text, vt integer, qty integer, conditional jsonb"),
    "read_with_poll": ("queue_name text, vt integer, qty integer",),
    "read_grouped": ("queue_name text, vt integer, qty integer",),
    "read_grouped_with_poll": ("queue_name text, vt integer, qty integer",),
    "read_grouped_rr": ("queue_name text, vt integer, qty integer",),
    "read_grouped_rr_with_poll": ("queue_name text, vt integer, qty integer",),
    "read_grouped_head": ("queue_name text, vt integer, qty integer",),
    "read_grouped_head_with_poll": ("queue_name text, vt integer, qty integer",),
    "pop": ("queue_name text", "queue_name text, qty integer"),
    "delete": ("queue_name text, msg_id bigint", "queue_name text, msg_ids bigint[]"),
    "archive": ("queue_name text, msg_id bigint", "queue_name text, msg_ids bigint[]"),
    "set_vt": tuple(
        f"queue_name text, {ids}, {vt}"
        for ids in ("msg_id bigint", "msg_ids bigint[]")
        for vt in ("vt integer", "vt timestamptz")
    ),
    "bind_topic": ("pattern text, queue_name text",),
    "unbind_topic": ("pattern text, queue_name text",),
    "send_topic": tuple(
        f"routing_key text, msg jsonb{more}" for more in ("", ", delay integer", ", headers jsonb, delay integer")
    ),
    "send_batch_topic": tuple(
        f"routing_key text, msgs jsonb[]{more.replace('headers jsonb', 'headers jsonb[]')}" for more in _SEND
    ),
    "list_topic_bindings": ("", "queue_name text"),
    "test_routing": ("routing_key text",),
    "validate_routing_key": ("routing_key text",),
    "validate_topic_pattern": ("pattern text",),
    "enable_notify_insert": ("queue_name text, throttle_interval_ms integer",),
    "disable_notify_insert": ("queue_name text",),
    "update_notify_insert": ("queue_name text, throttle_interval_ms integer",),
    "list_notify_insert_throttles": ("",),
    "metrics": ("queue_name text",),
    "metrics_all": ("",),
    "create_fifo_index": ("queue_name text",),
    "create_fifo_indexes_all": ("",),
}
SIGNATURES = tuple(signatures())
PARTED = ("create_partitioned", "convert_archive_partitioned", "notify_queue_listeners")
"""Called by tests of their own: what needs pg_partman in the real one, and the trigger function."""
