"""Publishers, shared and unshared consumers and a turning ring at once, each in a thread.

Nothing lost, nothing twice, order per producer.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import chance
import psycopg
import pytest
from support import Db, one

SECONDS = float(os.environ.get("HOWDAH_TEST_STRESS") or 2)
RETRY = ("40001", "40P01", "55P03", "HD024")


class Stress:
    """What the threads share; each client's own list is in the order in which it committed."""

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn
        self.over = threading.Event()
        self.published: list[list[int]] = []
        self.received: dict[str, list[list[int]]] = {"t::shared": [], "t::one": [], "t::two": []}
        self.retries: Counter[str] = Counter()

    def publisher(self, seed: int) -> None:
        dice, mine = random.Random(seed), list[int]()
        self.published.append(mine)
        with psycopg.connect(self.dsn, autocommit=True) as db:
            while not self.over.is_set():
                try:
                    with db.transaction(force_rollback=dice.random() < 0.2) as transaction:
                        sent = list[int]()
                        for _ in range(dice.choice([1, 1, 3])):
                            sent += one(
                                db,
                                "select howdah.send_batch('t', array_fill('x'::text, array[%s]))",
                                (dice.choice([1, 4]),),
                            )
                            time.sleep(dice.random() * 0.004)
                except psycopg.Error as error:
                    self.retry(error)
                else:
                    mine += [] if transaction.force_rollback else sent

    def consumer(self, subscription: str, seed: int) -> None:
        dice, mine = random.Random(seed), list[int]()
        self.received[subscription].append(mine)
        with psycopg.connect(self.dsn, autocommit=True) as db:
            while not self.over.is_set():
                try:
                    with db.transaction(force_rollback=dice.random() < 0.2) as transaction:
                        if dice.random() < 0.2:
                            db.execute("set transaction isolation level repeatable read")
                        got = self.take(db, subscription, dice.choice([1, 5, 50]))
                        time.sleep(dice.random() * 0.002)
                except psycopg.Error as error:
                    self.retry(error)
                else:
                    mine += [] if transaction.force_rollback else got

    def rotator(self) -> None:
        with psycopg.connect(self.dsn, autocommit=True) as db:
            while not self.over.is_set():
                try:
                    db.execute("update howdah.topic_ring set opened_at = '-infinity' where state = 'open'")
                    db.execute("select howdah.maintain_topics(), howdah.maintain_subscriptions()")
                except psycopg.Error as error:
                    self.retry(error)
                time.sleep(0.01)

    def retry(self, error: psycopg.Error) -> None:
        if error.sqlstate not in RETRY:
            self.over.set()
            raise error
        self.retries[error.sqlstate] += 1

    @staticmethod
    def take(db: Db, subscription: str, number: int) -> list[int]:
        return [row[0] for row in db.execute("select message_id from howdah.receive(%s, %s)", (subscription, number))]


@pytest.mark.slow
def test_threads_lose_double_and_reorder_nothing_while_the_ring_turns(dsn: str, db: Db) -> None:
    seed = chance.seed()
    one(db, "select howdah.create_topic('t')")
    for name, shared in (("shared", True), ("one", False), ("two", False)):
        one(db, "select howdah.subscribe('t', %s, shared => %s)", (name, shared))
    stress = Stress(dsn)
    with ThreadPoolExecutor(12) as pool:
        running = [pool.submit(stress.publisher, seed + n) for n in range(4)]
        running += [pool.submit(stress.consumer, "t::shared", seed + 10 + n) for n in range(4)]
        # Two for one of them: the second is refused as long as the first one's transaction is open.
        running += [pool.submit(stress.consumer, name, seed + 20) for name in ("t::one", "t::two", "t::two")]
        running.append(pool.submit(stress.rotator))
        time.sleep(SECONDS)
        stress.over.set()
        for future in running:
            future.result()
    sent = {number for numbers in stress.published for number in numbers}
    for name, lists in stress.received.items():
        rest = list[int]()
        while more := stress.take(db, name, 1000):
            rest += more
        got = Counter(number for numbers in [*lists, rest] for number in numbers)
        assert [number for number, times in got.items() if times > 1] == [], f"{name} doubled"
        assert sent - set(got) == set(), f"{name} lost"
        assert set(got) - sent == set(), f"{name} got what was not committed"
    order = {
        number: (producer, n) for producer, numbers in enumerate(stress.published) for n, number in enumerate(numbers)
    }
    last: dict[int, int] = {}
    for number in stress.received["t::one"][0]:
        producer, n = order[number]
        assert last.get(producer, -1) < n, f"order of producer {producer}"
        last[producer] = n
    print(f"{len(sent)} messages, {one(db, 'select howdah._generation()')} turns, retried {dict(stress.retries)}")
