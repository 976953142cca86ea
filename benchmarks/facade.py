"""The facade of pgmq beside the real pgmq: the same SQL, one by one and by hundreds, in databases of their own."""

from __future__ import annotations

import json
from collections.abc import Callable

from psycopg.conninfo import make_conninfo

from ..migrations import add_facade
from .bench import BODY, Bench, Db, opened, settle
from .record import OURS

ROW = "facade-pgmq"
QUEUE = "howdah_facade"
HUNDRED = 100
MESSAGE = json.dumps(BODY)

SEND = f"select pgmq.send('{QUEUE}', '{MESSAGE}'::jsonb);"
SEND_HUNDRED = f"select count(*) from pgmq.send_batch('{QUEUE}', array_fill('{MESSAGE}'::jsonb, array[{HUNDRED}]));"
READ = f"select pgmq.delete('{QUEUE}', (select msg_id from pgmq.read('{QUEUE}', 60, 1)));"
READ_HUNDRED = (
    f"select count(*) from pgmq.delete('{QUEUE}', array(select msg_id from pgmq.read('{QUEUE}', 60, {HUNDRED})));"
)
CASES = {
    "send one": (SEND, 1, False),
    "send 100": (SEND_HUNDRED, HUNDRED, False),
    "read and delete one": (READ, 1, True),
    "read and delete 100": (READ_HUNDRED, HUNDRED, True),
}


def measure(bench: Bench, beside: Callable[[int], None]) -> None:
    """All cases in turn with the real pgmq, which ``beside`` measures, each in a new database."""
    for turn in range(bench.size.rounds):
        with bench.database() as dsn:
            add_facade(make_conninfo(dsn, options=""), "pgmq")  # not as the application
            one_turn(bench, dsn, OURS)
        beside(turn)


def one_turn(bench: Bench, dsn: str, who: str) -> None:
    """One repetition of each case, wherever the functions of pgmq are."""
    with opened(dsn) as connection:
        connection.execute("select pgmq.create(%s)", (QUEUE,))
        for case, (statement, takes, full) in CASES.items():
            each = max(bench.size.messages // takes, bench.size.each)
            connection.execute("select pgmq.purge_queue(%s)", (QUEUE,))
            if full:
                _fill(connection, bench.called(each) * takes)
            settle(connection, f"pgmq.q_{QUEUE}" if who != OURS else "howdah.msgs")
            bench.pgbench(dsn, statement, 1, each).note(bench.record, ROW, case, who, takes)
        connection.execute("select pgmq.drop_queue(%s)", (QUEUE,))


def _fill(connection: Db, messages: int) -> None:
    connection.execute(
        "select count(*) from (select array_agg(%s::jsonb) as b from generate_series(1, %s) g group by g / 10000) x,"
        " lateral pgmq.send_batch(%s, b)",
        (MESSAGE, messages, QUEUE),
    )
