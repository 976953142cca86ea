"""Random schedules: sessions send, receive, roll back, commit late and are killed at once.

Then all is drained and counted.

A schedule has up to 8 connections, each in a thread of its own, and about 40 steps among them. Its seed decides what
they do; how they interleave is the machine's. HOWDAH_TEST_SEED repeats one schedule (chance.py), HOWDAH_TEST_SCHEDULES
says how many to run.
"""

from __future__ import annotations

import os
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field

import chance
import psycopg
from psycopg import sql

CONNECTIONS = 8
STEPS = 40
DRAIN_SECONDS = 30.0


@dataclass
class Result:
    """What became of the messages of one schedule or of many."""

    schedules: int = 0
    sent: int = 0
    rolled_back: int = 0
    killed: int = 0
    #: Seconds from the end of a schedule to the find of the last message.
    latest: float = 0.0

    def add(self, other: Result) -> None:
        """Count one more."""
        self.schedules += other.schedules
        self.sent += other.sent
        self.rolled_back += other.rolled_back
        self.killed += other.killed
        self.latest = max(self.latest, other.latest)

    def __str__(self) -> str:
        return (
            f"{self.schedules} schedules, {self.sent} messages sent and committed,"
            f" {self.rolled_back} taken and given back,"
            f" {self.killed} sessions killed; 0 lost, 0 doubled;"
            f" the latest was found {self.latest:.3f} s after its schedule"
        )


@dataclass
class Ledger:
    """What committed, as the clients saw it.

    A statement of unknown fate is never made: sessions are killed between two.
    """

    sent: set[int] = field(default_factory=set)
    consumed: list[int] = field(default_factory=list)
    rolled_back: int = 0
    killed: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


def count() -> int:
    """How many schedules to run."""
    return int(os.environ.get("HOWDAH_TEST_SCHEDULES") or 15)


class Schedule:
    """One schedule on one queue.

    ``dsn`` is where sessions work (a pooler, perhaps), ``direct`` a superuser's own connection.
    """

    def __init__(
        self, dsn: str, direct: psycopg.Connection, idle: list[psycopg.Connection], queue: str, seed: int
    ) -> None:
        self._dsn = dsn
        self._idle = idle
        self._direct = direct
        self._killing = threading.Lock()
        self._queue = queue
        self._seed = seed
        self._ledger = Ledger()

    def run(self) -> Result:
        """Run, drain and compare. Raises AssertionError with the seed if a message is lost or doubled."""
        dice = random.Random(self._seed)
        sessions = [(random.Random(dice.random()), STEPS // CONNECTIONS) for _ in range(dice.randint(2, CONNECTIONS))]
        try:
            with ThreadPoolExecutor(CONNECTIONS) as pool:
                list(pool.map(self._session, *zip(*sessions, strict=True)))
        except Exception as error:
            raise AssertionError(f"schedule {self._seed}") from error
        latest = self._drain(dice)
        ledger = self._ledger
        lost, taken = ledger.sent - set(ledger.consumed), set(ledger.consumed)
        assert not lost, f"schedule {self._seed}: lost {sorted(lost)[:10]} of {len(ledger.sent)}"
        assert len(taken) == len(ledger.consumed), f"schedule {self._seed}: doubled"
        assert taken == ledger.sent, f"schedule {self._seed}: received what was not sent"
        return Result(1, len(ledger.sent), ledger.rolled_back, ledger.killed, latest)

    def _session(self, dice: random.Random, steps: int) -> None:
        connection: psycopg.Connection | None = None
        try:
            for _ in range(steps):
                if connection is None or dice.random() < 0.1:
                    if connection is not None:
                        connection.close()
                    connection = self._connect(dice)
                sending = dice.random() < 0.4
                if not (self._send if sending else self._receive)(connection, dice):
                    connection = None
                if dice.random() < 0.05:
                    self._mislead(dice)
        finally:
            if connection is not None:
                self._idle.append(connection)

    def _connect(self, dice: random.Random) -> psycopg.Connection:
        """A connection that an earlier session left, or a new one."""
        if dice.random() < 0.8:
            with suppress(IndexError):
                return self._idle.pop()
        return psycopg.connect(self._dsn, prepare_threshold=None)

    def _send(self, connection: psycopg.Connection, dice: random.Random) -> bool:
        """Send in a transaction that ends soon, late or not at all; whether the connection lives."""
        number = dice.choice([1, 1, 1, 3, 20, 90, 300, *([3000] if dice.random() < 0.03 else [])])
        special = dice.random()
        ids: list[int] = []
        if number == 1 and special < 0.2:
            options = dice.choice(
                [
                    "priority => 7",
                    "delay => '3 ms'",
                    "delivery_mode => 'non-persistent'",
                    "priority => 1, delay => '1 ms'",
                ]
            )
            row = connection.execute(
                f"select howdah.send(%s, 'x'::text, {options})".encode(), (self._queue,)
            ).fetchone()
            ids = [row[0]] if row else []
        elif number == 1:
            row = connection.execute("select howdah.send(%s, 'x'::text)", (self._queue,)).fetchone()
            ids = [row[0]] if row else []
        else:
            row = connection.execute(
                "select howdah.send_batch(%s, array_fill('x'::text, array[%s::integer]))", (self._queue, number)
            ).fetchone()
            ids = row[0] if row else []
        self._linger(dice)
        return self._end(connection, dice, ids, [])

    def _receive(self, connection: psycopg.Connection, dice: random.Random) -> bool:
        """Receive once or twice, perhaps give some back to a savepoint, and end the transaction somehow."""
        if dice.random() < 0.15:
            return self._end(connection, dice, [], self._hold_and_consume(connection, dice))
        got: list[int] = []
        for _ in range(dice.choice([1, 1, 2])):
            number = dice.choice([1, 1, 1, 1, 7, 60, 250])
            saved = dice.random() < 0.15
            if saved:
                connection.execute("savepoint s")
            ids = self._take(connection, number)
            if saved and dice.random() < 0.5:
                connection.execute("rollback to savepoint s")
                with self._ledger.lock:
                    self._ledger.rolled_back += len(ids)
            else:
                got += ids
        self._linger(dice)
        return self._end(connection, dice, [], got)

    def _hold_and_consume(self, connection: psycopg.Connection, dice: random.Random) -> list[int]:
        """Hold some messages and consume one half of them."""
        rows = connection.execute(
            "select message_id, priority, position from howdah.receive_locked(%s, %s)",
            (self._queue, dice.choice([1, 8, 100])),
        ).fetchall()
        assert len({row[0] for row in rows}) == len(rows), f"schedule {self._seed}: held twice"
        self._linger(dice)
        kept = rows[::2]
        connection.execute(
            "select howdah.consume_locked(%s, %s::bigint[], %s::integer[], %s::bigint[])",
            (self._queue, *([row[n] for row in kept] for n in range(3))),
        )
        return [row[0] for row in kept]

    def _take(self, connection: psycopg.Connection, number: int) -> list[int]:
        rows = connection.execute("select message_id from howdah.receive(%s, %s)", (self._queue, number)).fetchall()
        return [row[0] for row in rows]

    def _linger(self, dice: random.Random) -> None:
        """Now and then a transaction stays open while others go on."""
        if dice.random() < 0.3:
            time.sleep(dice.random() * 0.015)

    def _end(self, connection: psycopg.Connection, dice: random.Random, sent: list[int], got: list[int]) -> bool:
        chance = dice.random()
        ledger = self._ledger
        if chance < 0.6:
            connection.commit()
            with ledger.lock:
                ledger.sent.update(sent)
                ledger.consumed += got
            return True
        with ledger.lock:
            ledger.rolled_back += len(got)
        if chance < 0.85:
            connection.rollback()
            return True
        with ledger.lock:
            ledger.killed += 1
        if chance < 0.92:
            connection.close()
            return False
        row = connection.execute("select pg_backend_pid()").fetchone()
        with self._killing:
            # Its own wait looks every 100 ms only.
            self._direct.execute("select pg_terminate_backend(%s)", row)
            while self._direct.execute("select from pg_stat_activity where pid = %s", row).fetchone() is not None:
                time.sleep(0.0005)
        connection.close()
        return False

    def _mislead(self, dice: random.Random) -> None:
        """Put wrong values into the hints: nothing may depend on them."""
        with self._killing:
            rows = self._direct.execute(
                "select d.head::text, d.search::text, coalesce(pg_sequence_last_value(d.positions), 0)"
                " from howdah.destinations d"
                " where d.name = %s"
                " union all select l.head::text, l.search::text,"
                " case l.place when 0 then 1000000 * extract(epoch"
                " from now())::bigint else coalesce(pg_sequence_last_value(d.positions), 0) end"
                " from howdah.destinations d join howdah.lanes l on l.destination_id = d.id"
                " where d.name = %s and l.head is not null",
                (self._queue, self._queue),
            ).fetchall()
            if rows:
                head, search, last = dice.choice(rows)
                self._direct.execute("select setval(%s::regclass, %s)", (head, dice.randint(0, 2 * last)))
                if search:
                    self._direct.execute("select setval(%s::regclass, %s)", (search, dice.randint(0, 2**50)))

    def _drain(self, dice: random.Random) -> float:
        """Receive until everything that was sent is there; seconds until the last one was found."""
        begun = time.monotonic()
        latest = 0.0
        missing = self._ledger.sent - set(self._ledger.consumed)
        with psycopg.connect(self._dsn, prepare_threshold=None) as connection:
            while missing and time.monotonic() - begun < DRAIN_SECONDS:
                ids = self._take(connection, dice.choice([1, 30, 1000]))
                connection.commit()
                self._ledger.consumed += ids
                missing -= set(ids)
                if ids:
                    latest = time.monotonic() - begun
                else:
                    time.sleep(0.001)
            for _ in range(3):
                self._ledger.consumed += self._take(connection, 1000)
                connection.commit()
        return latest


def run_many(dsn: str, direct_dsn: str, numbers: list[int]) -> Result:
    """Run a schedule for each seed; a queue serves 20 of them, so that later ones find dead rows and old hints."""
    total = Result()
    idle: list[psycopg.Connection] = []
    with psycopg.connect(direct_dsn, autocommit=True) as direct:
        # Nothing here depends on the disk, and the schedules are many.
        direct.execute(
            sql.SQL("alter database {} set synchronous_commit = off").format(sql.Identifier(direct.info.dbname))
        )
        for n, seed in enumerate(numbers):
            queue = f"schedules.{n // 20}"
            if n % 20 == 0:
                direct.execute("select howdah.create_queue(%s)", (queue,))
            total.add(Schedule(dsn, direct, idle, queue, chance.use(seed)).run())
            for connection in idle[2 * CONNECTIONS :]:
                connection.close()
            del idle[2 * CONNECTIONS :]
    for connection in idle:
        connection.close()
    return total
