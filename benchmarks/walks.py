"""Measure receives that skip messages: message groups, and a selector that selects little of a long queue."""

from __future__ import annotations

from functools import partial

from .bench import BODY, QUEUE, Bench, Db, opened, settle, timed
from .record import OURS

GROUPS, SELECTOR = "groups", "selector"
UNGROUPED, EVERYTHING = "no groups", "everything, without a selector"
NUMBER_OF_GROUPS = 10_000
WIDTHS = (1, 32)
#: One message in so many is selected.
ONE_IN = 1000


def fill(connection: Db, messages: int) -> None:
    """Messages of 10,000 groups in turn, each with a number."""
    connection.execute(
        b"select count(howdah.send_batch(%s, b, headers => h)) from (select array_agg(%s::text) as b,"
        b" array_agg(jsonb_build_object('JMSXGroupID', (g::bigint * 7919 %% %s)::text, 'n', g) order by g) as h"
        b" from generate_series(1, %s) g group by g / 10000) x",
        (QUEUE, BODY, NUMBER_OF_GROUPS, messages),
    )


def groups(bench: Bench) -> None:
    """One message a transaction, and ten, of the same queue with groups and without, in turn."""
    for width in WIDTHS:
        for batch in (1, 10):
            each = max(bench.size.messages // width, bench.size.each) // batch
            for _ in range(bench.size.rounds):
                for who, option in ((OURS, "transaction"), (UNGROUPED, "none")):
                    with bench.database() as dsn, opened(dsn) as connection:
                        connection.execute(
                            "select howdah.alter_queue(%s, jsonb_build_object('message_groups', %s::text))",
                            (QUEUE, option),
                        )
                        fill(connection, bench.called(each) * width * batch)
                        settle(connection)
                        ran = bench.pgbench(dsn, f"select howdah.receive('{QUEUE}', {batch});", width, each)
                    case = f"{width} connection{'s' * (width > 1)}, by {batch}"
                    few = "as many messages as one by one" if batch > 1 else ""
                    ran.note(bench.record, GROUPS, case, who, batch, few)


def selector(bench: Bench) -> None:
    """Measure a selective consumer's first look at the long queue, and then each message, beside a plain receive."""
    times = max(5, bench.size.live // ONE_IN // 4)
    for _ in range(bench.size.rounds):
        with bench.database() as dsn, opened(dsn) as connection:
            fill(connection, bench.size.live)
            settle(connection)
            for case, looks in (("first look, nothing selected", 1), ("look again, nothing selected", 20)):
                seconds = timed(partial(take, connection, "n < 0"), looks)
                bench.record.add(SELECTOR, case, OURS, "ms", 1000 * seconds / looks)
            for who, wanted in ((OURS, f"JMSPriority = 4 AND n / {ONE_IN} * {ONE_IN} = n"), (EVERYTHING, None)):
                seconds = timed(partial(take, connection, wanted), times)
                bench.record.add(
                    SELECTOR, f"one message in {ONE_IN:,}, one after the other", who, "/s", times / seconds
                )


def take(connection: Db, wanted: str | None) -> None:
    """One message, if there is one."""
    connection.execute("select count(*) from howdah.receive(%s, 1, selector => %s)", (QUEUE, wanted))
