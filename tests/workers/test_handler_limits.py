"""Rates and limits of concurrency over many sessions at once, some of which die."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import chance
import psycopg
import pytest
from psycopg.types.json import Jsonb
from support import Db, column, one, wait_until
from workers_support import StartWorkers, Work

SECONDS = 10
RATE = 100
CONSUMED = (
    "select extract(epoch from at)::float8 from howdah.journal cross join lateral unnest(message_ids)"
    " where event = 'consumed' order by at"
)


def most_in(times: list[float], span: float) -> int:
    """How many lie in any span of so many seconds at most."""
    first = 0
    most = 0
    for last, at in enumerate(times):
        while at - times[first] >= span:
            first += 1
        most = max(most, last - first + 1)
    return most


@pytest.mark.slow
@pytest.mark.parametrize("option", ["rate_limit", "rate_limit_per_key"])
def test_sixteen_workers_keep_a_rate_and_reach_it(jobs: Work, db: Db, start: StartWorkers, option: str) -> None:
    """The times are those at which messages were given out, by the clock that the limit goes by."""
    one(db, "select howdah.alter_queue('work', %s)", (Jsonb({"limit_key": "tenant", option: f"{RATE}/1s"}),))
    db.execute(
        "select howdah.send('work', 'plain', headers => '{\"tenant\": \"a\"}') from generate_series(1, %s)",
        (RATE * (SECONDS + 20),),
    ).fetchall()
    workers = start(processes=2, sessions=8)
    workers.wait_started(2)
    begin = len(jobs.effects())
    wait_until(lambda: len(jobs.effects()) > begin + RATE)
    begun = time.time()
    time.sleep(SECONDS)
    times = [at for at in column(db, CONSUMED) if begun <= at < begun + SECONDS]
    print(f"{option}: {len(times) / SECONDS}/s, at most {most_in(times, 1)} in a second")
    # A message is journaled some time before its turn at the rate; a test with a clock of its own is exact.
    assert most_in(times, 0.9) <= RATE
    assert 0.95 * RATE * SECONDS <= len(times) <= 1.01 * RATE * SECONDS


class InHand:
    """How many messages consumers have in hand, and how many that were at most, of each key."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._now: dict[str, int] = {}
        self.most: dict[str, int] = {}

    @contextmanager
    def held(self, key: str) -> Iterator[None]:
        with self._lock:
            self._now[key] = self._now.get(key, 0) + 1
            self.most[key] = max(self.most.get(key, 0), self._now[key])
        try:
            yield
        finally:
            with self._lock:
                self._now[key] -= 1


def consume(dsn: str, in_hand: InHand, seed: int, stopping: threading.Event) -> None:
    """Receive or lease, and commit, roll back, acknowledge, give back or be killed."""
    dice = random.Random(seed)
    db = psycopg.connect(dsn, autocommit=True)
    while not stopping.is_set():
        if db.closed:
            db = psycopg.connect(dsn, autocommit=True)
        if dice.random() < 0.5:
            db.execute("begin")
            found = db.execute("select headers ->> 'tenant' from howdah.receive('q')").fetchone()
            if found is not None:
                with in_hand.held(found[0]), in_hand.held("all"):
                    time.sleep(dice.random() * 0.01)
            end = dice.choice(["commit", "commit", "rollback", "kill"])
            if end == "kill":
                with psycopg.connect(dsn, autocommit=True) as killer:
                    killer.execute("select pg_terminate_backend(%s)", (db.info.backend_pid,))
                db.close()
            else:
                db.execute(end.encode())
        else:
            leased = db.execute("select lease, headers ->> 'tenant' from howdah.lease('q')").fetchone()
            if leased is not None:
                with in_hand.held(leased[1]), in_hand.held("all"):
                    time.sleep(dice.random() * 0.01)
                verb = dice.choice(["ack", "ack", "release"])
                db.execute(f"select howdah.{verb}('q', %s)".encode(), (leased[0],))
    db.close()


@pytest.mark.slow
def test_limits_of_concurrency_hold_for_receives_leases_and_kills_at_once(db: Db, dsn: str) -> None:
    one(
        db,
        "select howdah.create_queue('q', %s)",
        (Jsonb({"max_concurrent": 5, "limit_key": "tenant", "max_concurrent_per_key": 2}),),
    )
    db.execute(
        "select howdah.send('q', n::text, headers => jsonb_build_object('tenant', chr(97 + n % 3)))"
        " from generate_series(1, 300) n"
    ).fetchall()
    in_hand, stopping = InHand(), threading.Event()
    seed = chance.dice().randrange(1 << 30)
    threads = [threading.Thread(target=consume, args=(dsn, in_hand, seed + n, stopping), daemon=True) for n in range(8)]
    for thread in threads:
        thread.start()
    try:
        wait_until(lambda: one(db, "select live + parked from howdah.queue_stats('q')") == 0)
    finally:
        stopping.set()
        for thread in threads:
            thread.join(30)
    most = in_hand.most
    assert max(most["a"], most["b"], most["c"]) <= 2 < most["all"] <= 5, f"{most}, seed {seed}"
