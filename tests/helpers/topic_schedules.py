"""Random schedules on topics.

Sessions publish, subscribe, receive, lease, roll back, prepare, hold snapshots and are killed, while the ring turns.

One thread drives up to 8 connections, so a seed repeats a schedule exactly (but for the numbers of transactions).
Afterwards everything is ended, drained and compared with what was committed. HOWDAH_TEST_SEED repeats one schedule.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

import chance
import psycopg
from psycopg import sql
from topic_ledger import Ledger, Subscription
from topic_sessions import Session
from topic_steps import Steps

CONNECTIONS = 8
STEPS = 60
#: Retry: a conflict, or a lock that another session of the schedule holds. Refused: in use, or ended by somebody else.
EXPECTED = {
    "40001": "retry",
    "40P01": "deadlock",
    "55P03": "lock",
    "HD024": "in use",
    "HD001": "gone",
    "HD005": "isolation",
    "HD026": "lease lost",
}


class TopicSchedule(Steps):
    """One schedule. ``topics`` exist, and somebody subscribes to them throughout."""

    def run(self) -> Ledger:
        """Run, drain and check. Raises AssertionError with the seed."""
        try:
            for _ in range(2):
                self._subscribe(self._new_session())
            for session in self._sessions:
                self._commit(session)
            for _ in range(STEPS):
                self._step()
            self._end_all()
            self._drain()
            for subscription in self._ledger.subscriptions:
                self._ledger.check(subscription)
            self._drop_all()
        except (AssertionError, psycopg.Error) as error:
            steps = "\n".join(self.notes)
            raise AssertionError(f"{steps}\nschedule {self._seed}: {error}") from error
        finally:
            self._idle += [session.connection for session in self._sessions]
            for gid, _ in self._prepared:
                self._direct.execute(sql.SQL("rollback prepared {}").format(gid))
        return self._ledger

    def _step(self) -> None:
        dice = self._dice
        if len(self._sessions) < 2 or (dice.random() < 0.15 and len(self._sessions) < CONNECTIONS):
            session = self._new_session()
        else:
            session = dice.choice(self._sessions)
        actions: list[tuple[float, Callable[[Session], None]]] = [
            (10, self._publish), (3, self._publish_batch), (12, self._receive), (3, self._hold), (5, self._savepoint),
            (1.5, self._subscribe), (0.7, self._unsubscribe), (4, self._turn), (1, self._look_after), (1.5, self._rest),
            (3, self._record_failure), (1.5, self._settle_prepared), (12, self._end), (2, self._lease), (6, self._ack),
        ]  # fmt: skip
        if session.work is None and dice.random() < 0.5:
            self._begin(session)
        (_, action) = dice.choices(actions, [weight for weight, _ in actions])[0]
        try:
            action(session)
        except psycopg.Error as error:
            if error.sqlstate not in EXPECTED:
                raise
            self._note(session, f"{error.sqlstate} {str(error).splitlines()[0]}")
            self.errors[EXPECTED[error.sqlstate]] += 1
            self._recover(session)
        if session in self._sessions and session.work and session.connection.info.transaction_status == 0:
            self._commit(session)

    def _end_all(self) -> None:
        for session in self._sessions:
            if session.connection.info.transaction_status != 0:
                (self._commit if self._dice.random() < 0.7 else self._rollback)(session)
        while self._prepared:
            self._end_prepared(*self._prepared.pop())
        self._release_all()

    def _release_all(self) -> None:
        for subscription in self._ledger.subscriptions:
            if not subscription.ended:
                self._direct.execute(
                    "select howdah.release(%s, l.lease) from howdah.list_leases(%s) l"
                    " where l.leased_until > howdah.now() + interval '1 minute'",
                    (subscription.name, subscription.name),
                )

    def _drain(self) -> None:
        """Receive what is left; a dead-letter queue's messages count as the subscription's."""
        session = self._new_session()
        for subscription in self._ledger.subscriptions:
            if subscription.ended:
                continue
            deadline, empty = time.monotonic() + 20, 0
            while empty < 2 and time.monotonic() < deadline:
                if self._dice.random() < 0.3:
                    self._turn(session)
                rows = self._take(session, subscription, "receive", self._dice.choice([1, 7, 100, 1000]))
                subscription.consumed += [row[0] for row in rows]
                if rows:
                    deadline = time.monotonic() + 20
                else:
                    empty += not self._ledger.missing(subscription) or not subscription.failing
                    time.sleep(0.001 if subscription.failing else 0)
                if not rows and subscription.failing:
                    subscription.consumed += self._dead(subscription)

    def _dead(self, subscription: Subscription) -> list[int]:
        rows = self._direct.execute(
            "select m.message_id from howdah.destinations d cross"
            " join howdah.receive(d.exception_prefix || d.name, 100) m"
            " where d.name = %s and d.dropped_at is null",
            (subscription.name,),
        ).fetchall()
        return [row[0] for row in rows]

    def _drop_all(self) -> None:
        """End what is left; then the tables get empty."""
        self._direct.execute("select howdah.maintain_subscriptions()")
        (left,) = self._direct.execute("select count(*) from howdah.acked").fetchone() or (None,)
        assert left == 0, f"{left} rows in acked"
        for subscription in self._ledger.subscriptions:
            if not subscription.ended:
                self._direct.execute("select howdah.unsubscribe(%s)", (subscription.name,))
        for _ in range(50):  # what was closed a moment ago is kept for the topics' one millisecond
            self._direct.execute("select howdah.maintain_topics()")
            row = self._direct.execute(
                "select count(*) filter (where r.state <> 'empty'),"
                " max(r.truncations) = coalesce(pg_sequence_last_value('howdah.topic_truncations'), 0),"
                " max(r.generation) filter (where r.state = 'open') = howdah._generation() from howdah.topic_ring r"
            ).fetchone()
            if row == (1, True, True):
                break
        assert row == (1, True, True), f"ring {row}"


def run_many(dsn: str, numbers: list[int]) -> str:
    """Run a schedule for each seed; all use the same tables, so that later ones find dead rows and turned rings."""
    errors: Counter[str] = Counter()
    total: Counter[str] = Counter()
    idle: list[psycopg.Connection] = []
    with psycopg.connect(dsn, autocommit=True) as direct:
        # Nothing here depends on the disk. The ring turns at every call, which gives up sooner than it does elsewhere.
        direct.execute(
            sql.SQL("alter database {} set synchronous_commit = off").format(sql.Identifier(direct.info.dbname))
        )
        direct.execute("alter table howdah.engine drop constraint ck_engine_topic_rotation_seconds")
        direct.execute("update howdah.engine set topic_rotation_seconds = 0")
        direct.execute("alter function howdah.maintain_topics set lock_timeout = '2ms'")
        direct.execute("set lock_timeout = '5ms'")
        for n, seed in enumerate(numbers):
            topics = [f"T{n // 25}.{letter}" for letter in "ab"]
            if n % 25 == 0:
                for topic in topics:
                    direct.execute("select howdah.create_topic(%s)", (topic,))
                    direct.execute("select howdah.alter_topic(%s, %s)", (topic, '{"recovery": "none", "retain_ms": 1}'))
            schedule = TopicSchedule(dsn, direct, idle, topics, chance.use(seed))
            ledger = schedule.run()
            errors += schedule.errors
            total["messages"] += len(ledger.messages)
            total["subscriptions"] += len(ledger.subscriptions)
            total["given back"] += ledger.rolled_back
    for connection in idle:
        connection.close()
    return f"{len(numbers)} schedules, {dict(total)}, refused {dict(errors)}; 0 lost, 0 doubled, 0 out of order"
