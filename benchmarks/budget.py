"""Where the time of one message goes: pg_stat_statements, plans with their buffers, and the client's share.

``python -m howdah.benchmarks.budget [--dsn DSN]``. DSN is a migrated database whose server loads pg_stat_statements
with track_planning, and may load auto_explain. The server is on this machine, so that the CPU time of its processes can
be read. Without DSN, the program starts a server of its own, which lacks both.
"""

from __future__ import annotations

import argparse
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo

from ..engine import Session
from .bench import BODY, QUEUE, Db, fill, opened, settle
from .place import Place

CALLS = 700
ROUNDS = 5
BARE = "insert into floor values ((random() * 1e15)::bigint, 4, clock_timestamp(), %s) returning 1"
SEND = f"select howdah.send('{QUEUE}', %s::text)"
RECEIVE = f"select howdah.receive('{QUEUE}')"
#: What each transaction of a client, a worker, a publisher or a subscriber does.
HOT = (
    f"select howdah.send('{QUEUE}', '{BODY}'::text)",
    RECEIVE,
    f"select count(*) from howdah.receive('{QUEUE}', 100)",
    f"select count(*) from howdah.lease('{QUEUE}', 100)",
    f"select howdah.send('bench_topic', '{BODY}'::text)",
    "select count(*) from howdah.receive('bench_topic::reader', 100)",
)
#: Each with its arguments.
CALLED: tuple[tuple[str, tuple[str, ...]], ...] = ((SEND, (BODY,)), (RECEIVE, ()), (BARE, (BODY,)), ("select 1", ()))
STATEMENTS = """
select queryid, toplevel, left(regexp_replace(query, '\\s+', ' ', 'g'), 70), calls, 1000 * mean_exec_time,
       1000 * min_exec_time, plans, 1000 * mean_plan_time, wal_bytes / calls,
       (shared_blks_hit + shared_blks_read) / calls::numeric
from pg_stat_statements where dbid = (select oid from pg_database where datname = current_database()) and calls >= %s
"""


def processor(connection: Db) -> float:
    """Microseconds of CPU that the connection's server process has used; 0 where it cannot be read."""
    try:
        return int(Path(f"/proc/{connection.info.backend_pid}/schedstat").read_text().split()[0]) / 1000
    except OSError:
        return 0.0


def called(connection: Db, query: str, arguments: tuple[str, ...], times: int = CALLS) -> dict[str, float]:
    """Microseconds of a call with its commit: CPU of the server's process and of ours, and what the clock says."""
    taken, server, ours = [], processor(connection), time.process_time()
    for _ in range(times):
        started = time.perf_counter()
        connection.execute(query.encode(), arguments, prepare=True).fetchall()
        taken.append(time.perf_counter() - started)
    return {
        "server CPU": (processor(connection) - server) / times,
        "client CPU": 1e6 * (time.process_time() - ours) / times,
        "median": 1e6 * median(taken),
    }


def statements(connection: Db) -> None:
    """Of each statement the round with the least mean: time, planning, WAL and buffers a call."""
    try:
        connection.execute("create extension if not exists pg_stat_statements")
        connection.execute("set pg_stat_statements.track = 'all'")
    except psycopg.Error as error:
        print(f"without pg_stat_statements: {str(error).splitlines()[0]}")
        return
    least: dict[int, Any] = {}
    for _ in range(ROUNDS):
        connection.execute("select pg_stat_statements_reset()")
        for query, arguments in CALLED:
            called(connection, query, arguments)
        for row in connection.execute(STATEMENTS, (CALLS // 3,)).fetchall():
            if row[0] not in least or row[4] < least[row[0]][4]:
                least[row[0]] = row
    print("mean us   min  plans  plan us   WAL B  buffers  statement (indented: inside the function)")
    for _, top, query, _, mean, shortest, plans, planning, wal, buffers in sorted(
        least.values(), key=lambda row: -row[4]
    ):
        line = f"{mean:7.1f} {shortest:5.1f}  {plans:5}  {planning:7.2f}  {wal:6.0f}  {buffers:7.1f}"
        print(f"{line}  {'' if top else '    '}{query}")
    connection.execute("set pg_stat_statements.track = 'none'")


def client(dsn: str) -> None:
    """A round trip and the two verbs by TCP and by the server's socket; then batches, whose cost is a message's."""
    with opened(dsn) as connection:
        found = connection.execute("select split_part(current_setting('unix_socket_directories'), ',', 1)").fetchone()
    folder = found[0] if found else ""
    for name, way in (("TCP", dsn), ("socket", make_conninfo(dsn, host=folder) if folder else "")):
        if not way:
            continue
        with opened(way) as connection:
            for query, arguments in (("select 1", ()), (SEND, (BODY,)), (RECEIVE, ())):
                called(connection, query, arguments, 200)
                figures = ", ".join(f"{what} {us:.0f}" for what, us in called(connection, query, arguments).items())
                print(f"{name:7} {query[:40]:42} us: {figures}")
    for size, times in ((1, CALLS), (1000, 20)):
        with psycopg.connect(dsn) as connection:
            session = Session(connection)
            started = time.process_time()
            for _ in range(times):
                session.send_many(QUEUE, [BODY] * size)
                connection.commit()
            sent = time.process_time()
            for _ in range(times):
                session.receive(QUEUE, size)
                connection.commit()
            spent = [1e6 * part / times / size for part in (sent - started, time.process_time() - sent)]
            print(
                f"Session, {size} a transaction: client CPU us a message: send {spent[0]:.1f}, receive {spent[1]:.1f}"
            )


def plans(dsn: str, dead: int) -> None:
    """EXPLAIN of a receive with nothing in front of its message, and with that many dead rows that a snapshot keeps."""
    with opened(dsn) as connection, psycopg.connect(dsn) as holder:
        connection.execute("select howdah.purge_queue(%s)", (QUEUE,))
        fill(connection, QUEUE, 1000)
        settle(connection)
        explain(connection, "nothing in front")
        fill(connection, QUEUE, dead)
        holder.execute("set transaction isolation level repeatable read")
        holder.execute("select count(*) from pg_class")
        for _ in range(dead // 10_000):
            connection.execute(f"select count(*) from howdah.receive('{QUEUE}', 10000)".encode())
        explain(connection, f"{dead:,} dead rows in front")


def explain(connection: Db, title: str) -> None:
    """The plan of a receive whose own statements are planned."""
    for _ in range(8):
        connection.execute(RECEIVE.encode())
    print(f"-- {title}")
    for (line,) in connection.execute(f"explain (analyze, buffers, wal) {RECEIVE}".encode()).fetchall():
        print(line)


def inner(dsn: str) -> None:
    """The plans of the statements inside the hot calls, if the server has auto_explain and we may load it."""
    said: list[str] = []
    with opened(dsn) as connection:
        connection.add_notice_handler(lambda notice: said.append(notice.message_primary or ""))
        connection.execute("set role none")
        try:
            connection.execute("load 'auto_explain'")
        except psycopg.Error as error:
            print(f"without the plans inside: {str(error).splitlines()[0]}")
            return
        for name in ("log_analyze", "log_buffers", "log_nested_statements"):
            connection.execute(f"set auto_explain.{name} = on".encode())
        connection.execute("set auto_explain.log_timing = off; set client_min_messages = log")
        connection.execute("reset role; select howdah.create_topic('bench_topic')")
        try:
            connection.execute("select howdah.subscribe('bench_topic', 'reader')")
            for name in (QUEUE, "bench_topic"):
                fill(connection, name, 10_000)
            settle(connection)
            for call in HOT:
                connection.execute("set role none; set auto_explain.log_min_duration = -1; reset role")
                for _ in range(8):
                    connection.execute(call.encode())
                connection.execute("set role none; set auto_explain.log_min_duration = 0; reset role")
                said.clear()
                connection.execute(call.encode())
                print(f"-- inside {call}", *said, sep="\n")
        finally:
            connection.execute("select howdah.drop_topic('bench_topic', force => true)")


def main() -> None:
    """Measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dsn")
    parser.add_argument("--dead", type=int, default=1_000_000)
    options = parser.parse_args()
    with ExitStack() as stack:
        place = Place(options.dsn) if options.dsn else stack.enter_context(Place.own())
        dsn = stack.enter_context(place.database())
        with opened(dsn) as connection:
            connection.execute(
                "create table floor (id bigint primary key, rank smallint, sent_at timestamptz, body text)"
            )
            connection.execute("select howdah.create_queue(%s)", (QUEUE,))
            fill(connection, QUEUE, 2 * ROUNDS * CALLS)
            settle(connection)
            statements(connection)
        client(dsn)
        plans(dsn, options.dead)
        inner(dsn)  # last: it leaves leases


if __name__ == "__main__":
    main()
