"""Topics: publishing beside a bare INSERT, shared reads, held snapshots, latency, and the list of subscriptions."""

from __future__ import annotations

import time
from contextlib import ExitStack
from functools import partial

from ..engine import connect
from . import floor, latency
from .bench import BODY, QUEUE, Bench, Db, fill, opened, settle, timed
from .held import drain_both
from .record import OURS

TOPIC = "bench_topic"
READER = f"{TOPIC}::reader"
BARE = floor.PAIRS[0].ways[1].who
LATENCY = "topic-latency"
TICK = 10_000
SHARED = 4
A_QUEUE = "a queue"
SUBSCRIPTIONS = 100


def prepare(connection: Db, subscriptions: int = 1, shared: bool = False) -> None:
    """The topic; subscriptions to it, of which the first one is called reader."""
    connection.execute("select howdah.create_topic(%s)", (TOPIC,))
    for number in range(subscriptions):
        name = f"reader{number or ''}"
        connection.execute("select howdah.subscribe(%s, %s, shared => %s)", (TOPIC, name, shared))


def publish(connection: Db, messages: int, batch: int = TICK) -> None:
    """Transactions of so many messages; then no checkpoint is due."""
    for begin in range(0, messages, batch):
        connection.execute(
            "select from howdah.send_batch(%s, array_fill(%s::text, array[%s]))",
            (TOPIC, BODY, min(batch, messages - begin)),
        )
    for number in range(3):
        settle(connection, f"howdah.topic_msgs_{number}")


def _publishing(bench: Bench, row: str, case: str, width: int, subscriptions: int) -> None:
    """One message a transaction, ours and the bare INSERT in turn."""
    each = max(bench.size.messages // width, bench.size.each)
    ways = (floor.Way(OURS, f"select howdah.send('{TOPIC}', '{BODY}'::text);"), floor.PAIRS[0].ways[1])
    with bench.database() as dsn, opened(dsn) as connection:
        connection.execute(floor.SETUP.encode())
        prepare(connection, subscriptions)
        for turn in range(bench.size.rounds):
            for way in ways if turn % 2 == 0 else ways[::-1]:
                settle(connection, "floor")
                bench.pgbench(dsn, way.statement, width, each).note(bench.record, row, case, way.who)


def publishing(bench: Bench) -> None:
    """Measure publishing by connections with one subscription, then by subscriptions with one connection."""
    for width in (1, 4, 16) if len(bench.size.connections) > 2 else bench.size.connections:
        _publishing(bench, "topic-publish", f"{width} connection{'s' * (width > 1)}", width, 1)
    for subscriptions in (0, SUBSCRIPTIONS):
        _publishing(bench, "topic-publish", f"1 connection, {subscriptions} subscriptions", 1, subscriptions)
    spread(bench)


def spread(bench: Bench) -> None:
    """Measure what subscriptions cost a publisher: 100 of them or one, in turn, in two databases of one server."""
    statement = f"select howdah.send('{TOPIC}', '{BODY}'::text);"
    each = max(bench.size.messages // 4, bench.size.each)
    with ExitStack() as open_ones:
        dsns = {count: open_ones.enter_context(bench.database()) for count in (1, SUBSCRIPTIONS)}
        for count, dsn in dsns.items():
            with opened(dsn) as connection:
                prepare(connection, count)
        for turn in range(max(2, 2 * bench.size.rounds)):
            rates = {
                count: bench.pgbench(dsns[count], statement, 1, each).rate
                for count in (sorted(dsns) if turn % 2 == 0 else sorted(dsns, reverse=True))
            }
            case = f"speed kept: {SUBSCRIPTIONS} subscriptions against one beside it"
            bench.record.add("topic-publish", case, OURS, "ratio", rates[SUBSCRIPTIONS] / rates[1])


def shared(bench: Bench) -> None:
    """Consumers of one shared subscription beside those of a queue, 1 and 100 messages a transaction, in turn."""
    for want in (1, 100):
        each = max(bench.size.each, bench.size.messages * (1 if want == 1 else 5) // SHARED // want)
        for turn in range(bench.size.rounds):
            for who, source in ((OURS, READER), (A_QUEUE, QUEUE))[:: 1 if turn % 2 == 0 else -1]:
                with bench.database() as dsn, opened(dsn) as connection:
                    messages = bench.called(each) * SHARED * want
                    if who == OURS:
                        prepare(connection, shared=True)
                        publish(connection, messages)
                    else:
                        fill(connection, QUEUE, messages)
                        settle(connection)
                    ran = bench.pgbench(dsn, f"select count(*) from howdah.receive('{source}', {want});", SHARED, each)
                ran.note(bench.record, "topic-shared", f"{SHARED} consumers, by {want}", who, want)


def held(bench: Bench) -> None:
    """One subscriber reads all that was published, by the hundred, with nobody looking and under a held snapshot."""
    size, statement = bench.size, f"select count(*) from howdah.receive('{READER}', 100)"
    drain_both(
        bench,
        "topic-held",
        OURS,
        prepare,
        lambda connection: publish(connection, size.held, min(TICK, size.held_round)),
        statement,
    )


def idle(bench: Bench) -> None:
    """A subscriber that waits, as a queue's receiver does, beside a bare commit with NOTIFY in turn."""
    with bench.database() as dsn, opened(dsn) as connection:
        prepare(connection)
        for _ in range(bench.size.rounds):
            latency.record(bench, latency.BARE, latency.bare(dsn, bench.size.samples), LATENCY)
            latency.record(bench, OURS, latency.ours(dsn, bench.size.samples, READER, TOPIC), LATENCY)


def lag(bench: Bench) -> None:
    """howdah.list_subscriptions() of very many unread messages."""
    with bench.database() as dsn, opened(dsn) as connection:
        prepare(connection, SUBSCRIPTIONS)
        publish(connection, bench.size.held)
        list_all = partial(connection.execute, b"select * from howdah.list_subscriptions()")
        timed(list_all)  # the first call plans
        case = f"{SUBSCRIPTIONS} subscriptions, {bench.size.held:,} messages unread by each"
        for _ in range(10 * bench.size.rounds):
            bench.record.add("topic-lag", case, OURS, "ms", 1000 * timed(list_all))


#: How a tick is read: counted in the server, or fetched as a peer's reader fetches its own two columns.
READ = {
    "server": b"select count(*) from howdah.receive(%s, %s)",
    "client": b"select message_id, body from howdah.receive(%s, %s)",
}


def stream(dsn: str, where: str, events: int, a_tick: int, each: int) -> dict[str, float]:
    """Publish the events, ``each`` a transaction. Then read them all by one subscriber, tick by tick, like a peer."""
    with opened(dsn) as connection, connect(dsn, max_size=1) as client, client.session() as session:
        prepare(connection)
        publish(connection, events + a_tick, each)

        def read() -> int:
            if where == "messages":
                found = len(session.receive_now(READER, a_tick))
                session.commit()
                return found
            rows = connection.execute(READ[where], (READER, a_tick)).fetchall()
            return len(rows) if where == "client" else int(rows[0][0])

        read()  # the first call plans
        count = 0
        started = time.perf_counter()
        while found := read():
            count += found
        return {"seconds": time.perf_counter() - started, "count": count}
