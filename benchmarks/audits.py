"""An audit of a long journal beside a bare COPY of the same rows, and what it costs the queue that is audited."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import harmonic_mean
from typing import TYPE_CHECKING

from ..engine import HowdahError
from ..text.extras import how_to_install
from .bench import BODY, QUEUE, Bench, Db, Ran, opened, settle
from .record import OURS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from ..audit import AuditResult

ROW, LIVE = "audit", "audit-live"
COPY, ALONE = "bare COPY of the same rows", "no audit"
PARTITIONS = 4
CONNECTIONS = 8
#: As one message a transaction writes it: a row when sent, a row when consumed. No run reaches these numbers.
FILL = (
    "insert into howdah.journal (at, destination_id, event, message_ids, oldest_sent_at)"
    " select now() - interval '1 hour' + (n + %(later)s) * interval '100 microseconds', d.id, %(event)s,"
    " array[(n + 1000000000::bigint) * 1000000 + d.id],"
    " case when %(later)s > 0 then now() - interval '1 hour' + n * interval '100 microseconds' end"
    " from generate_series(1, %(messages)s) n cross join howdah.destinations d where d.name = %(queue)s"
)

OLDER = "update howdah.destinations set created_at = now() - interval '2 hours' where name = %(queue)s"

#: Whether the queue has a message of its own that an audit would see: no number that FILL gives is lower.
AT_WORK = "select exists (select from howdah.journal where message_ids[1] < 1000000000::bigint * 1000000)"


def measure(bench: Bench) -> None:
    """Each round reads the journal's rows by COPY, and audits them; Java has started before.

    The first round audits them once more and proves everything by row.
    """
    with _spark() as spark:
        for number in range(bench.size.rounds):
            with bench.database() as dsn, opened(dsn) as connection:
                rows = fill(connection, bench.size.audited)
                started = time.perf_counter()
                copy(connection)
                case = f"{rows:,} rows of the journal"
                copied = rows / (time.perf_counter() - started)
                bench.record.add(ROW, case, COPY, "/s", copied)
                result = _audit(dsn, spark)
                bench.record.add(ROW, case, OURS, "/s", rows / result.seconds)
                if number == 0:
                    by_row = _audit(dsn, spark, rows=True)
                    for what, seconds in (
                        (f"{case}, all by row", by_row.seconds),
                        (f"{case}, all by row, only read and kept as Parquet", by_row.read_seconds),
                    ):
                        bench.record.add(ROW, what, OURS, "/s", rows / seconds)
                        bench.record.add(ROW, what, COPY, "/s", copied)
        bench.record.add(ROW, f"{case}, most memory of Java", OURS, "bytes", _peak(spark))


def live(bench: Bench) -> None:
    """Audit a server while eight connections send and receive one message a transaction, and while they do not."""
    each = max(bench.size.messages // CONNECTIONS, bench.size.each)
    script = f"select howdah.send('{QUEUE}', '{BODY}'::text);\nselect howdah.receive('{QUEUE}');"
    with _spark() as spark:
        for _ in range(bench.size.rounds):
            for who in (OURS, ALONE):
                with bench.database() as dsn, opened(dsn) as connection:
                    filled = fill(connection, bench.size.audited // 10) // 2
                    settle(connection)
                    run = partial(bench.pgbench, dsn, script, CONNECTIONS, each)
                    ran = [run()] if who == ALONE else _beside_an_audit(dsn, spark, connection, run, filled)
                rate = harmonic_mean([one.rate for one in ran])
                case = f"{CONNECTIONS} connections"
                bench.record.add(LIVE, case, who, "/s", rate, cost=ran[0].cost, transactions=ran[0].transactions)


def _beside_an_audit(dsn: str, spark: SparkSession, connection: Db, run: Callable[[], Ran], filled: int) -> list[Ran]:
    """Runs, the first begun before an audit takes its snapshot, the last ended before the audit has."""
    rates: list[Ran] = []
    over = threading.Event()

    def load() -> None:
        while not over.is_set():
            rate = run()
            if not rates or not over.is_set():
                rates.append(rate)

    with ThreadPoolExecutor(1) as pool:
        loading = pool.submit(load)
        try:
            connection.execute("set role none")  # the applications' may not read the journal
            while not (rates or loading.done()) and connection.execute(AT_WORK).fetchone() == (False,):
                time.sleep(0.01)
            sent = _audit(dsn, spark).queue(QUEUE).sent
        finally:
            over.set()
        loading.result()
    if sent <= filled:
        raise HowdahError("the audit did not see the queue at work")
    return rates


def fill(connection: Db, rows: int) -> int:
    """Fill the journal with messages that were sent and consumed in the last hour, and return the number of rows."""
    connection.execute(OLDER, {"queue": QUEUE})
    connection.execute('select howdah.alter_queue(%s, \'{"journal_level": "full"}\')', (QUEUE,))
    for later, event in ((0, "sent"), (1, "consumed")):
        connection.execute(FILL, {"later": later, "event": event, "messages": rows // 2, "queue": QUEUE})
    settle(connection, "howdah.journal")
    return rows // 2 * 2


def copy(connection: Db) -> None:
    """What an audit reads of the journal, by one COPY, and thrown away."""
    from ..audit.read import COLUMNS

    query = f"copy (select {COLUMNS['audit_journal']} from howdah.audit_journal) to stdout"
    with connection.cursor().copy(query.encode()) as rows:
        for _ in rows:
            pass


def _peak(spark: SparkSession) -> int:
    """The most memory that Spark's Java process had, bytes."""
    java = spark.sparkContext._jvm
    assert java is not None  # until the session is stopped
    status = Path(f"/proc/{java.java.lang.ProcessHandle.current().pid()}/status").read_text()
    (peak,) = re.findall(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)
    return int(peak) * 1024


def _audit(dsn: str, spark: SparkSession, *, rows: bool = False) -> AuditResult:
    from ..audit import run_audit

    result = run_audit(dsn, spark=spark, partitions=PARTITIONS, rows=rows)
    if not result.ok:
        broken = ", ".join(f"{rule.name} {rule.count:,}" for rule in result.rules if rule.count)
        raise HowdahError(f"the audit found what is not there: {broken or 'a queue that does not balance'}")
    return result


@contextmanager
def _spark() -> Iterator[SparkSession]:
    try:
        from ..audit import AuditError, spark_session
    except ModuleNotFoundError as error:
        raise HowdahError("Spark is not installed", how_to_install("audit")) from error
    try:
        with spark_session("local[2]", PARTITIONS) as spark:
            yield spark
    except AuditError as error:
        raise HowdahError(str(error)) from error
