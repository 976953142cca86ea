"""What a second priority costs: a queue that has only the main one is received from by a shorter way."""

from __future__ import annotations

from .bench import QUEUE, Bench, fill, opened, settle
from .record import OURS

ROW = "priorities"
#: Which part of the messages has a higher priority than the others.
WAYS = {OURS: 0.0, "two priorities": 0.5}
WIDTHS = (1, 4)


def measure(bench: Bench) -> None:
    """One message a transaction, of a queue with one priority and of one with two, in turn."""
    for width in WIDTHS:
        each = max(bench.size.messages // width, bench.size.each)
        for _ in range(bench.size.rounds):
            for who, part in WAYS.items():
                with bench.database() as dsn, opened(dsn) as connection:
                    messages = bench.called(each) * width
                    high = int(messages * part)
                    if high:
                        fill(connection, QUEUE, high, options=", priorities => array_fill(8, array[cardinality(b)])")
                    fill(connection, QUEUE, messages - high)
                    settle(connection)
                    ran = bench.pgbench(dsn, f"select howdah.receive('{QUEUE}');", width, each)
                case = f"{width} connection{'s' * (width > 1)}, one priority"
                ran.note(bench.record, ROW, case, who)
