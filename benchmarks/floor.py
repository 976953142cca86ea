"""Howdah's statements beside the bare ones that they contain, by pgbench, in turn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from .bench import BODY, QUEUE, Bench, Db, fill, opened, settle
from .record import OURS

SETUP = """
create table floor (id bigint primary key, rank smallint, sent_at timestamptz, body text);
create table gone (at timestamptz, queue integer, ids bigint[]);
create sequence next;
create sequence take;
"""
SKIPPING = "bare table, SKIP LOCKED"
RECEIVING = "howdah.receive in a transaction"
APART = "howdah.lease and howdah.ack, each in a transaction"


@dataclass(frozen=True)
class Way:
    """One measured statement, and the side it stands for."""

    who: str
    statement: str


@dataclass(frozen=True)
class Pair:
    """Ours and bare statements that do the same work."""

    row: str
    ways: tuple[Way, ...]
    #: Messages that each transaction takes.
    takes: int
    journal_level: str = "exits"


# The place is taken by (select nextval(..)): as an init plan it is evaluated once. Written without the select the
# planner cannot use the index.
_ONE = "delete from howdah_bench.floor where id = (select nextval('howdah_bench.take')) returning *"
_SKIPPING = (
    "delete from howdah_bench.floor where ctid = any(array(select ctid from howdah_bench.floor order by id"
    " limit 100 for update skip locked)) returning *"
)


def _many(number: int) -> str:
    return (
        "delete from howdah_bench.floor where id = any(array(select nextval('howdah_bench.take')"
        f" from generate_series(1, {number}))) returning *"
    )


def _journaled(delete: str, columns: str = "*") -> str:
    return (
        f"with d as ({delete}), j as (insert into howdah_bench.gone select clock_timestamp(), 1, array_agg(id) from d)"
        f" select {columns} from d;"
    )


PAIRS = (
    Pair(
        "send-one",
        (
            Way(OURS, f"select howdah.send('{QUEUE}', '{BODY}'::text);"),
            Way(
                "bare INSERT",
                "insert into howdah_bench.floor values"
                f" (nextval('howdah_bench.next') + 1000000000, 4, clock_timestamp(), '{BODY}');",
            ),
        ),
        0,
    ),
    Pair(
        "receive-one",
        (
            Way(OURS, f"select howdah.receive('{QUEUE}');"),
            Way("bare DELETE by key and journal INSERT", _journaled(_ONE)),
        ),
        1,
    ),
    Pair(
        "receive-one-unjournaled",
        (Way(OURS, f"select howdah.receive('{QUEUE}');"), Way("bare DELETE by key", _ONE + ";")),
        1,
        "off",
    ),
    Pair(
        "receive-100",
        (
            Way(OURS, f"select count(*) from howdah.receive('{QUEUE}', 100);"),
            Way("bare DELETE by key and journal INSERT", _journaled(_many(100), "count(*)")),
            Way(SKIPPING, f"with d as ({_SKIPPING}) select count(*) from d;"),
        ),
        100,
    ),
    Pair(
        "lease-acknowledge-100",
        (
            Way(
                OURS, f"select lease from howdah.lease('{QUEUE}', 100, acknowledge => nullif(:lease, 0)) limit 1 \\gset"
            ),
            Way(
                APART,
                f"select lease from howdah.lease('{QUEUE}', 100) limit 1 \\gset\nselect howdah.ack('{QUEUE}', :lease);",
            ),
            Way(RECEIVING, f"select count(*) from howdah.receive('{QUEUE}', 100);"),
        ),
        100,
    ),
    Pair(
        "receive-1000",
        (
            Way(OURS, f"select count(*) from howdah.receive('{QUEUE}', 1000);"),
            Way("bare DELETE by key and journal INSERT", _journaled(_many(1000), "count(*)")),
        ),
        1000,
    ),
)


def refill(connection: Db, messages: int) -> None:
    """Give both sides that many messages, and a few more."""
    connection.execute("truncate floor, gone")
    connection.execute(
        "insert into floor select g, 4, clock_timestamp(), %s from generate_series(1, %s) g", (BODY, messages + 100)
    )
    connection.execute("select setval('take', 1, false)")
    connection.execute("select howdah.release(%s, lease) from howdah.list_leases(%s)", (QUEUE, QUEUE))
    connection.execute("select howdah.purge_queue(%s)", (QUEUE,))
    fill(connection, QUEUE, messages + 100)
    connection.execute("vacuum analyze floor")
    settle(connection)


def crowd(bench: Bench) -> None:
    """Very many receivers of one queue."""
    pair = next(pair for pair in PAIRS if pair.row == "receive-one")
    few = bench.size.crowd < bench.size.each
    measure(
        bench,
        replace(pair, row="crowd"),
        (bench.size.receivers,),
        each=bench.size.crowd,
        few="so many connections make enough of them together" if few else "",
    )


def measure(
    bench: Bench,
    pair: Pair,
    widths: tuple[int, ...] = (),
    beside: Callable[[int], None] = lambda turn: None,
    *,
    each: int = 0,
    few: str = "",
) -> None:
    """Run the ways in turn from the same state, ``rounds`` times at each width. Call ``beside`` after each turn.

    each: transactions of a connection, where they are not as many as the size says; few: why they are fewer.
    """
    size = bench.size
    widths = widths or ((1,) if pair.takes > 1 else size.connections)
    messages = size.messages * (10 if pair.takes > 1 else 1)
    with bench.database() as dsn, opened(dsn) as connection:
        connection.execute(SETUP.encode())
        connection.execute(
            "select howdah.alter_queue(%s, jsonb_build_object('journal_level', %s::text))", (QUEUE, pair.journal_level)
        )
        for width in widths:
            number = each or max(messages // width // max(1, pair.takes), size.each)
            for turn in range(size.rounds):
                ways = pair.ways if turn % 2 == 0 else pair.ways[::-1]
                for way in ways:
                    # Refill before each way, so that none cleans up after another.
                    refill(connection, bench.called(number) * width * pair.takes)
                    ran = bench.pgbench(dsn, way.statement, width, number)
                    ran.note(
                        bench.record,
                        pair.row,
                        f"{width} connection{'s' * (width > 1)}",
                        way.who,
                        max(1, pair.takes),
                        few,
                    )
                beside(turn)
