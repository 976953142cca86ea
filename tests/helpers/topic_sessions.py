"""Sessions of a random schedule on topics: what begins and ends their transactions, and how they end themselves."""

from __future__ import annotations

import itertools
import random
import time
from collections import Counter
from dataclasses import dataclass, field

import psycopg
from psycopg import sql
from topic_ledger import Ledger, Subscription, Work

CLIENT = "desk"

NUMBERS = itertools.count(1)
"""Of sessions, subscriptions and prepared transactions."""


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


class Sessions:
    """The sessions of one schedule, and what was committed in them.

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

    def _note(self, session: Session | None, text: str) -> None:
        self.notes.append(f"{session.producer if session else '-'}: {text}")

    def _new_session(self) -> Session:
        if self._idle:
            connection = self._idle.pop()
        else:
            connection = psycopg.connect(self._dsn, autocommit=True, prepare_threshold=None)
            connection.execute("set lock_timeout = '5ms'")
        session = Session(connection, next(NUMBERS), client=self._dice.choice([None, CLIENT]))
        connection.execute("select howdah.set_client_id(%s)", (session.client,))
        self._sessions.append(session)
        return session

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
            gid = f"p{self._seed}.{next(NUMBERS)}"
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
