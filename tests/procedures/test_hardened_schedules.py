"""Attempts at a hardened queue's messages, beside a model of them.

Their sessions succeed, fail, fall silent, stall and die at random.
"""

from __future__ import annotations

import os
import random
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import chance
import pytest
from policy_support import Create, begin, ids, send
from psycopg.types.json import Jsonb
from support import SYSTEM, Clock, Connect, Db, column, fail, one, refused, wait_until

#: Schedules of each kind of queue. HOWDAH_TEST_SCHEDULES=10000 for many.
SCHEDULES = max(2, int(os.environ.get("HOWDAH_TEST_SCHEDULES") or 0) // 100)
STEPS, MESSAGES, SESSIONS = 60, 6, 4
IN_DOUBT = 10_000
"""Milliseconds for which nobody can say whether an attempt of a living session is over."""


@dataclass(eq=False)
class Attempt:
    """One that was begun and neither cancelled nor found void."""

    message: int
    at: int
    session: Db
    recorded: bool = False
    #: Its session has ended.
    dead: bool = False

    def certain(self, now: int) -> bool:
        """Whether it counts for everybody."""
        return self.recorded or self.dead or now - self.at >= IN_DOUBT


@dataclass
class Consumer:
    """A session, the attempts that it has begun, and the one in whose handler it is."""

    db: Db
    begun: dict[UUID, Attempt] = field(default_factory=dict)
    handling: UUID | None = None


class Schedule:
    """One run: the sessions, and what must hold after each step."""

    def __init__(self, db: Db, connect: Connect, clock: Clock, seed: int, limit: int) -> None:
        self.db, self.connect, self.clock, self.limit = db, connect, clock, limit
        self.dice = random.Random(seed)
        self.now = 0
        self.attempts: list[Attempt] = []
        self.starts: dict[int, int] = {}
        self.consumed: list[int] = []
        self.dead: set[int] = set()
        self.consumers = [Consumer(connect()) for _ in range(SESSIONS)]

    def step(self) -> None:
        """One act of one session, or time passes."""
        consumer = self.dice.choice(self.consumers)
        if self.dice.random() < 0.25:
            self.pass_time(self.dice.choice([300, 1200, 4000, 10_500]))
        elif self.dice.random() < 0.1:
            self.die(consumer)
        elif consumer.handling is not None:
            key = consumer.handling
            self.finish(consumer, self.dice.choice(["commit", "silent", "recorded", "cancelled"]))
            again = self.dice.choice(self.consumers)
            if again.handling is None:
                refused(again.db, "HD022", "select howdah.receive_attempt('q', %s)", (key,))
        elif consumer.begun and self.dice.random() < 0.7:
            self.take(consumer, self.dice.choice(list(consumer.begun)))
        else:
            for key, message in begin(consumer.db, self.dice.choice([1, 1, 2, 3])):
                consumer.begun[key] = Attempt(message, self.now, consumer.db)
                self.attempts.append(consumer.begun[key])

    def pass_time(self, milliseconds: int) -> None:
        self.now += milliseconds
        self.clock.advance(milliseconds / 1000)

    def take(self, consumer: Consumer, key: UUID) -> None:
        """Come to a message, and start its handler if it is there."""
        consumer.db.execute("begin")
        count = column(consumer.db, "select delivery_count from howdah.receive_attempt('q', %s)", (key,))
        if not count:
            consumer.db.execute("commit")
            self.attempts.remove(consumer.begun.pop(key))
            return
        consumer.handling = key
        message = consumer.begun[key].message
        self.starts[message] = self.starts.get(message, 0) + 1
        assert 1 <= count[0] <= self.limit

    def finish(self, consumer: Consumer, how: str) -> None:
        """The handler ends; silent: it rolls back without a word."""
        key = consumer.handling
        assert key is not None
        consumer.handling = None
        attempt = consumer.begun.pop(key)
        consumer.db.execute("commit" if how == "commit" else "rollback")
        if how == "commit":
            self.consumed.append(attempt.message)
            self.attempts.remove(attempt)
        elif how == "recorded":
            fail(consumer.db, attempt.message, failure_key=key)
            attempt.recorded = True
        elif how == "cancelled":
            self.starts[attempt.message] -= 1
            if one(consumer.db, "select howdah.cancel_attempt('q', %s)", (key,)):
                self.attempts.remove(attempt)

    def die(self, consumer: Consumer) -> None:
        """The session ends, and another one comes in its place."""
        pid = consumer.db.info.backend_pid
        consumer.db.close()
        wait_until(lambda: one(self.db, "select count(*) from pg_stat_activity where pid = %s", (pid,)) == 0)
        for attempt in self.attempts:
            attempt.dead |= attempt.session is consumer.db
        consumer.db, consumer.begun, consumer.handling = self.connect(), {}, None

    def check(self, dead: list[int]) -> None:
        """No handler starts too often, and nothing is disposed of for attempts that are only slow."""
        assert max(self.starts.values(), default=0) <= self.limit
        assert self.dead <= set(dead)
        for message in set(dead) - self.dead:
            assert message not in self.consumed
            assert sum(a.certain(self.now) for a in self.attempts if a.message == message) >= self.limit, message
        self.dead = set(dead)


@pytest.mark.slow
@pytest.mark.behaviour("WAS-47")
@pytest.mark.parametrize("order", [{}, {"strict_order": True}, {"message_groups": "transaction"}])
@pytest.mark.parametrize("limit", [1, 3])
def test_random_consumers_of_a_hardened_queue_start_no_handler_too_often_and_lose_no_message_they_could_handle(
    db: Db, create: Create, connect: Connect, clock: Clock, order: dict[str, Any], limit: int
) -> None:
    for seed in chance.seeds(SCHEDULES):
        create(backout_count="hardened", max_failed_deliveries=limit, **order)
        schedule = Schedule(db, connect, clock, chance.use(seed), limit)
        sent = [send(db, headers=Jsonb({"JMSXGroupID": f"{n % 2}"})) for n in range(MESSAGES)]
        for _ in range(STEPS):
            schedule.step()
            schedule.check(ids(db, SYSTEM))
        for consumer in schedule.consumers:
            schedule.die(consumer)
        schedule.pass_time(IN_DOUBT + 1000)
        last = schedule.consumers[0]
        while found := begin(last.db):
            ((key, message),) = found
            last.begun[key] = Attempt(message, schedule.now, last.db)
            schedule.attempts.append(last.begun[key])
            schedule.take(last, key)
            schedule.finish(last, "commit")
        dead = ids(db, SYSTEM)
        schedule.check(dead)
        assert sorted([*schedule.consumed, *dead]) == sent
        for consumer in schedule.consumers:
            consumer.db.close()
        one(db, "select howdah.purge_queue(%s)", (SYSTEM,))
        one(db, "select howdah.drop_queue('q')")
