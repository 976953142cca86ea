"""Measure receives that skip messages: message groups, and a selector that selects little of a long queue."""

from __future__ import annotations

from functools import partial

from .bench import BODY, QUEUE, Bench, Db, opened, settle, timed
from .record import OURS

GROUPS, SELECTOR = "groups", "selector"
UNGROUPED, EVERYTHING = "no groups", "everything, without a selector"
NUMBER_OF_GROUPS = 10_000
WIDTHS = (1, 32)
BATCHES = (1, 10, 100)
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
    """One message a transaction, ten, and a hundred, of the same queue with groups and without, in turn."""
    for width in WIDTHS:
        for batch in BATCHES:
            each = max(bench.size.messages // width, bench.size.each) // min(batch, 10)
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
                        # A transaction has at most 64 groups, so by 100 it gets fewer.
                        takes = batch - left(connection) / (bench.called(each) * width)
                    case = f"{width} connection{'s' * (width > 1)}, by {batch}"
                    few = "each takes many messages" if each < bench.size.each else ""
                    ran.note(bench.record, GROUPS, case, who, takes, few)


def left(connection: Db) -> int:
    """How many messages the receives did not get."""
    row = connection.execute("select count(*) from howdah.msgs").fetchone()
    return row[0] if row else 0


def selector(bench: Bench) -> None:
    """Measure a selective consumer's first look at the long queue, and then each message, beside a plain receive.

    It receives until its looks have reached the end of the queue. The rest it has found ahead by then.
    """
    wanted = f"JMSPriority = 4 AND n / {ONE_IN} * {ONE_IN} = n"
    for _ in range(bench.size.rounds):
        with bench.database() as dsn, opened(dsn) as connection:
            fill(connection, bench.size.live)
            settle(connection)
            for case, looks in (("first look, nothing selected", 1), ("look again, nothing selected", 20)):
                seconds = timed(partial(take, connection, "n < 0"), looks)
                bench.record.add(SELECTOR, case, OURS, "ms", 1000 * seconds / looks)
            looking, seconds = 0, 0.0
            while looking < bench.size.live // ONE_IN - 20 and (
                not looking or not through(connection, bench.size.live)
            ):
                seconds += timed(partial(take, connection, wanted), 10)
                looking += 10
            case = f"one message in {ONE_IN:,}, one after the other"
            bench.record.add(SELECTOR, case, OURS, "/s", looking / seconds)
            bench.record.add(
                SELECTOR, case, EVERYTHING, "/s", looking / timed(partial(take, connection, None), looking)
            )
            rest = bench.size.live // ONE_IN - looking - 2  # the last ones lie where looks do not go yet
            for who, selected in ((OURS, wanted), (EVERYTHING, None)):
                with bench.meter(dsn) as meter:
                    seconds = timed(partial(take, connection, selected), rest)
                case = f"one message in {ONE_IN:,}, once looked through"
                few = "no more messages are selected" if rest < bench.size.each else ""
                bench.record.add(
                    SELECTOR, case, who, "/s", rest / seconds, cost=meter.cost(rest), transactions=rest, few=few
                )


def through(connection: Db, messages: int) -> bool:
    """Whether looks have reached the end of the queue."""
    row = connection.execute("select coalesce(max(upto), 0) > %s from howdah.candidates", (messages - 5000,)).fetchone()
    return bool(row and row[0])


def take(connection: Db, wanted: str | None) -> None:
    """One message, if there is one."""
    connection.execute("select count(*) from howdah.receive(%s, 1, selector => %s)", (QUEUE, wanted))
