"""Random schedules on topics.

Sessions publish, subscribe, receive, lease, roll back, prepare, hold snapshots and are killed, while the ring turns.

One thread drives up to 8 connections, so a seed repeats a schedule exactly (but for the numbers of transactions).
Afterwards everything is ended, drained and compared with what was committed. HOWDAH_TEST_SEED repeats one schedule.
"""

from __future__ import annotations

import itertools
import json
import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import chance
import psycopg
from psycopg import sql
from topic_ledger import Ledger, Message, Subscription, Work

CONNECTIONS = 8
STEPS = 60
COLOURS = ("red", "blue")
CLIENT = "desk"
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

_numbers = itertools.count(1)


@dataclass
class Session:
    """A connection, its open transaction (None: none) and the savepoints in it."""

    connection: psycopg.Connection
    producer: int
    work: Work | None = None
    marks: list[tuple[int, int, int, int]] = field(default_factory=list)
    published: int = 0
    repeatable: bool = False
    snapshot: int = 0
    client: str | None = None


class TopicSchedule:
    """One schedule. ``topics`` exist, and somebody subscribes to them throughout.

    ``direct`` is a superuser's own connection.
    """

    def __init__(
        self, dsn: str, direct: psycopg.Connection, idle: list[psycopg.Connection], topics: list[str], seed: int
    ) -> None:
        self._dsn = dsn
        self._idle = idle
        self._direct = direct
        self._topics = topics
        self._dice = random.Random(seed)
        self._seed = seed
        self.errors: Counter[str] = Counter()
        self._ledger = Ledger()
        self._sessions: list[Session] = []
        self._prepared: list[tuple[str, Work]] = []
        self._failed: list[tuple[Subscription, int, int, int]] = []
        #: Subscription, lease and the numbers of its messages.
        self._leases: list[tuple[Subscription, int, list[int]]] = []
        self.notes: list[str] = []

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

    def _note(self, session: Session | None, text: str) -> None:
        self.notes.append(f"{session.producer if session else '-'}: {text}")

    def _new_session(self) -> Session:
        if self._idle:
            connection = self._idle.pop()
        else:
            connection = psycopg.connect(self._dsn, autocommit=True, prepare_threshold=None)
            connection.execute("set lock_timeout = '5ms'")
        session = Session(connection, next(_numbers), client=self._dice.choice([None, CLIENT]))
        connection.execute("select howdah.set_client_id(%s)", (session.client,))
        self._sessions.append(session)
        return session

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

    def _begin(self, session: Session) -> None:
        session.repeatable = self._dice.random() < 0.25
        session.connection.execute(
            f"begin isolation level {'repeatable read' if session.repeatable else 'read committed'}".encode()
        )
        if session.repeatable:
            session.connection.execute("select 1")
        session.work, session.marks, session.snapshot = Work(), [], self._ledger.events
        self._note(session, "begin" + " repeatable read" * session.repeatable)

    def _work(self, session: Session) -> Work:
        """The transaction's; in autocommit mode one that ends with the step."""
        if session.work is None:
            session.work, session.marks, session.repeatable = Work(), [], False
        return session.work

    def _recover(self, session: Session) -> None:
        """After an error: to the savepoint, or out of the transaction."""
        if session.connection.info.transaction_status == 0:
            session.work = None
        elif session.marks and self._dice.random() < 0.5:
            self._back(session)
        else:
            self._rollback(session)

    def _commit(self, session: Session) -> None:
        work = session.work
        session.work = None
        if session.connection.info.transaction_status != 0:
            session.connection.execute("commit")
            self._note(session, "commit")
        if work:
            self._ledger.commit(work)

    def _rollback(self, session: Session) -> None:
        session.connection.execute("rollback")
        self._note(session, "rollback")
        if session.work:
            self._ledger.undo(session.work)
        session.work = None

    def _back(self, session: Session) -> None:
        session.connection.execute("rollback to savepoint s")
        self._note(session, "rollback to")
        assert session.work
        given_back = Work(got=session.work.got[session.marks[-1][1] :])
        self._ledger.undo(given_back)
        session.work.back_to(session.marks[-1])

    def _savepoint(self, session: Session) -> None:
        if session.connection.info.transaction_status == 0 or session.work is None:
            return
        if session.marks and self._dice.random() < 0.6:
            if self._dice.random() < 0.5:
                self._back(session)
            else:
                session.connection.execute("release savepoint s")
                session.marks.pop()
                self._note(session, "release")
        elif len(session.marks) < 3:
            session.connection.execute("savepoint s")
            session.marks.append(session.work.mark())
            self._note(session, "savepoint")

    def _publish(self, session: Session) -> None:
        dice = self._dice
        message = self._message(session, dice.choice(self._topics))
        mode = dice.choice(["persistent", "persistent", "non-persistent"])
        row = session.connection.execute(
            "select howdah.send(%s, 'x'::text, headers => %s, priority => %s, delivery_mode => %s, notify => false)",
            (message.topic, json.dumps({"colour": message.colour}), message.priority, mode),
        ).fetchone()
        assert row
        message.id = row[0]
        self._work(session).sent.append(message)
        self._note(session, f"send {mode} {message}")

    def _publish_batch(self, session: Session) -> None:
        topic = self._dice.choice(self._topics)
        messages = [self._message(session, topic) for _ in range(self._dice.choice([2, 5, 30, 700]))]
        row = session.connection.execute(
            "select howdah.send_batch(%s, array_fill('x'::text, array[%s::integer]), headers => %s::jsonb[],"
            " priorities => %s::integer[], notify => false)",
            (
                topic,
                len(messages),
                [json.dumps({"colour": message.colour}) for message in messages],
                [message.priority for message in messages],
            ),
        ).fetchone()
        assert row
        for message, number in zip(messages, row[0], strict=True):
            message.id = number
            self._work(session).sent.append(message)
        self._note(session, f"batch {len(messages)} from {messages[0]}")

    def _message(self, session: Session, topic: str) -> Message:
        session.published += 1
        colour, priority = self._dice.choice(COLOURS), self._dice.choice([4, 4, 4, 0, 9])
        return Message(0, topic, session.producer, session.published, colour, priority, session.client)

    def _subscribe(self, session: Session) -> None:
        dice = self._dice
        wild = dice.random() < 0.3
        topic = dice.choice(self._topics)
        self._work(session)
        subscription = Subscription(
            "",
            self._topics if wild else [topic],
            session.snapshot if session.repeatable else self._ledger.events,
            shared=dice.random() < 0.4,
            colour=dice.choice(COLOURS) if dice.random() < 0.25 else None,
            prioritized=dice.random() < 0.12,
            durable=dice.random() < 0.8,
            failing=dice.random() < 0.3,
        )
        if not subscription.shared and dice.random() < 0.2:
            subscription.client = CLIENT
        options: dict[str, object] = {"prioritized": subscription.prioritized}
        if subscription.failing:
            options |= dice.choice([{}, {"redelivery_delay_ms": 2}])
            options |= {"max_failed_deliveries": 2, "exception_mode": "individual", "process_non_persistent": True}
        row = session.connection.execute(
            "select howdah.subscribe(%s, %s, %s, %s, shared => %s, durable => %s, no_local => %s, options => %s)",
            (
                topic.split(".")[0] + ".>" if wild else topic,
                f"s{next(_numbers)}",
                subscription.client or "",
                f"colour = '{subscription.colour}'" if subscription.colour else None,
                subscription.shared,
                subscription.durable,
                subscription.client is not None,
                json.dumps(options),
            ),
        ).fetchone()
        assert row
        subscription.name = row[0]
        self._work(session).began.append(subscription)
        self._note(session, f"subscribe {subscription}")

    def _unsubscribe(self, session: Session) -> None:
        if subscription := self._any(session):
            session.connection.execute("select howdah.unsubscribe(%s)", (subscription.name,))
            self._work(session).ended.append(subscription)
            self._note(session, f"unsubscribe {subscription.name}")

    def _any(self, session: Session) -> Subscription | None:
        """A subscription that the session may know."""
        mine = session.work.began if session.work else []
        known = [s for s in self._ledger.subscriptions + mine if not s.ended]
        known = [s for s in known if not (session.work and s in session.work.ended)]
        return self._dice.choice(known) if known else None

    def _take(self, session: Session, subscription: Subscription, verb: str, number: int) -> list[tuple[int, int, int]]:
        rows = session.connection.execute(
            f"select message_id, priority, position from howdah.{verb}(%s, %s)".encode(), (subscription.name, number)
        ).fetchall()
        self._note(session, f"{verb} {subscription.name} {number}: {[row[0] for row in rows]}")
        if not subscription.failing:
            self._ledger.check_order(subscription, [row[0] for row in rows])
        return rows

    def _receive(self, session: Session) -> None:
        if subscription := self._any(session):
            # From 500 on a read takes what one transaction published as a run.
            number = 1000 if self._dice.random() < 0.2 else self._dice.randint(1, 20)
            rows = self._take(session, subscription, "receive", number)
            self._work(session).got += [(subscription, row[0]) for row in rows]
            if rows and subscription.failing:
                self._failed = [(subscription, *rows[0]), *self._failed[:4]]

    def _hold(self, session: Session) -> None:
        if not (subscription := self._any(session)):
            return
        single = session.connection.info.transaction_status == 0
        if single:
            session.connection.execute("begin")
            self._work(session)
        rows = self._take(session, subscription, "receive_locked", self._dice.randint(1, 10))
        kept = [row for row in rows if self._dice.random() < 0.5]
        if kept:
            session.connection.execute(
                "select howdah.consume_locked(%s, %s::bigint[], %s::integer[], %s::bigint[])",
                (subscription.name, *([row[n] for row in kept] for n in range(3))),
            )
        subscription.loose = True
        self._work(session).got += [(subscription, row[0]) for row in kept]
        self._note(session, f"consumed {[row[0] for row in kept]}")
        if single:
            self._commit(session)

    def _lease(self, session: Session) -> None:
        """Lease in a transaction of its own.

        Of a subscription whose failures count at times for so short that the lease runs out.
        """
        if session.connection.info.transaction_status != 0 or not (subscription := self._any(session)):
            return
        self._work(session)
        milliseconds = self._dice.choice([1, 3_600_000]) if subscription.failing else 3_600_000
        rows = session.connection.execute(
            "select lease, message_id from howdah.lease(%s, %s, %s * interval '1 millisecond')",
            (subscription.name, self._dice.randint(1, 8), milliseconds),
        ).fetchall()
        self._note(session, f"lease {subscription.name} for {milliseconds}: {rows}")
        if rows:
            subscription.loose = True
            self._leases.append((subscription, rows[0][0], [row[1] for row in rows]))

    def _ack(self, session: Session) -> None:
        """Acknowledge some or all of a lease; what a rollback then takes back is released at the end."""
        if not self._leases:
            return
        subscription, lease, numbers = self._leases.pop(self._dice.randrange(len(self._leases)))
        some = self._dice.sample(numbers, self._dice.randint(1, len(numbers)))
        session.connection.execute("select howdah.ack(%s, %s, %s::bigint[])", (subscription.name, lease, some))
        self._work(session).got += [(subscription, number) for number in some]
        self._note(session, f"ack {subscription.name} {lease}: {some}")
        if rest := [number for number in numbers if number not in some]:
            self._leases.append((subscription, lease, rest))

    def _release_all(self) -> None:
        for subscription in self._ledger.subscriptions:
            if not subscription.ended:
                self._direct.execute(
                    "select howdah.release(%s, l.lease) from howdah.list_leases(%s) l"
                    " where l.leased_until > howdah.now() + interval '1 minute'",
                    (subscription.name, subscription.name),
                )

    def _record_failure(self, session: Session) -> None:
        if not self._failed or session.connection.info.transaction_status != 0:
            return
        subscription, number, priority, position = self._failed.pop(self._dice.randrange(len(self._failed)))
        rows = session.connection.execute(
            'select outcome from howdah.record_failure(%s, %s, priority => %s, "position" => %s)',
            (subscription.name, number, priority, position),
        ).fetchall()
        self._note(session, f"failure {subscription.name} {number}: {rows}")
        self._work(session)

    def _turn(self, session: Session, call: str = "howdah.maintain_topics()") -> None:
        """Call maintenance, as a rule in a transaction of its own.

        Inside another one it is a lock that many wait for.
        """
        inside = session.work is not None and self._dice.random() < 0.1
        row = (session.connection if inside else self._direct).execute(f"select {call}".encode()).fetchone()
        self._note(session if inside else None, f"{call}: {row}")

    def _look_after(self, session: Session) -> None:
        self._turn(session, "howdah.maintain_subscriptions()")

    def _rest(self, session: Session) -> None:
        """Be an unrelated transaction: with a number, or with a snapshot."""
        if session.connection.info.transaction_status == 0:
            self._begin(session)
        session.connection.execute("select pg_current_xact_id()" if self._dice.random() < 0.5 else "select 1")

    def _settle_prepared(self, session: Session) -> None:
        if self._prepared and session.connection.info.transaction_status == 0:
            gid, work = self._prepared.pop(self._dice.randrange(len(self._prepared)))
            self._end_prepared(gid, work)

    def _end_prepared(self, gid: str, work: Work) -> None:
        commits = self._dice.random() < 0.7
        self._direct.execute(
            sql.SQL("commit prepared {}" if commits else "rollback prepared {}").format(sql.Literal(gid))
        )
        self._note(None, f"{'commit' if commits else 'rollback'} prepared {gid}")
        if commits:
            self._ledger.commit(work, prepared=True)
        else:
            self._ledger.undo(work)

    def _end(self, session: Session) -> None:
        if session.connection.info.transaction_status == 0 or session.work is None:
            return
        chance = self._dice.random()
        if chance < 0.55:
            self._commit(session)
        elif chance < 0.75:
            self._rollback(session)
        elif chance < 0.9:
            gid = f"p{self._seed}.{next(_numbers)}"
            session.connection.execute(sql.SQL("prepare transaction {}").format(sql.Literal(gid)))
            self._note(session, f"prepare {gid}")
            self._prepared.append((gid, session.work))
            session.work = None
        else:
            self._kill(session)

    def _kill(self, session: Session) -> None:
        self._note(session, "kill")
        self._sessions.remove(session)
        if session.work:
            self._ledger.undo(session.work)
        pid = session.connection.info.backend_pid
        self._direct.execute("select pg_terminate_backend(%s)", (pid,))
        while self._direct.execute("select from pg_stat_activity where pid = %s", (pid,)).fetchone() is not None:
            time.sleep(0.0005)
        session.connection.close()

    def _end_all(self) -> None:
        for session in self._sessions:
            if session.connection.info.transaction_status != 0:
                (self._commit if self._dice.random() < 0.7 else self._rollback)(session)
        while self._prepared:
            self._end_prepared(*self._prepared.pop())
        self._release_all()

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
