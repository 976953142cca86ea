"""The sessions of jms_machine.py: their transactions, savepoints and deaths, and the clock.

Beside them, what its steps draw from.
"""

from __future__ import annotations

import functools
import time
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any, ClassVar, TypeVar

import psycopg
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule
from jms_messages import LIMIT, Message, Predicate, Session
from jms_turns import Turns
from psycopg.types.json import Jsonb
from support import Clock, Db

T = TypeVar("T")
SESSIONS = 3
FIND_SECONDS = 20.0
LEASE_SECONDS = 30
WINDOW = timedelta(minutes=5)
SYSTEM = "_SYSTEM.Exception.Destination.howdah"
COLUMNS = 'message_id, priority, delivery_count, redelivered, headers, correlation_id, delivery_mode, "position"'


def _header(message: Message, name: str) -> Any:
    return message.headers.get(name)


SELECTORS: list[tuple[str, Predicate]] = [
    ("colour = 'red'", lambda m: _header(m, "colour") == "red"),
    ("NOT (colour = 'red')", lambda m: _header(m, "colour") not in (None, "red")),
    ("colour IS NULL OR n > 2", lambda m: _header(m, "colour") is None or (_header(m, "n") or 0) > 2),
    ("JMSPriority > 4", lambda m: m.priority > 4),
    ("JMSDeliveryMode = 'NON_PERSISTENT'", lambda m: not m.persistent),
    (
        "JMSCorrelationID = 'a' AND n BETWEEN 1 AND 3",
        lambda m: m.correlation == "a" and (_header(m, "n") or 0) in (1, 2, 3),
    ),
]

seconds = st.sampled_from([None, 5, 60])
sessions = st.integers(0, SESSIONS - 1)
begin = st.booleans()
index = st.integers(0, 30)
few = st.integers(1, 4)
choices = st.lists(st.booleans(), min_size=1, max_size=4)
selector = st.one_of(st.none(), st.sampled_from(SELECTORS))
headers = st.fixed_dictionaries(
    {},
    optional={
        "colour": st.sampled_from(["red", "blue"]),
        "n": st.integers(0, 4),
        "JMSXGroupID": st.sampled_from(["g1", "g2", "g3"]),
        "JMSXGroupSeq": st.sampled_from([1, 2, 2, -1]),
    },
)


def some_open(machine: Sessions) -> bool:
    return any(session.open for session in machine.sessions)


def some_sent(machine: Sessions) -> bool:
    return any(machine.model.there(m, None) for m in machine.model.messages.values())


def some_leased(machine: Sessions) -> bool:
    return any(m.lease is not None and m.place == "parked" for m in machine.model.messages.values())


def step(when: Callable[[Sessions], object] | None = None, **drawn: Any) -> Callable[[Callable[..., None]], Any]:
    """A rule after whose failure the end is not looked at any more.

    Chosen only when there is something for it to do.
    """

    def decorate(function: Callable[..., None]) -> Any:
        @functools.wraps(function)
        def run(self: Sessions, **values: Any) -> None:
            self.broken = True
            function(self, **values)
            self.broken = False
            self.steps[function.__name__] += 1

        guard: Any = precondition(lambda self: when is None or bool(when(self)))
        ruled: Any = rule(**drawn)
        return guard(ruled(run))

    return decorate


class Sessions(RuleBasedStateMachine):
    """One queue, three sessions and a fourth connection for calls that are committed at once."""

    dsn: ClassVar[str]
    clock: ClassVar[Clock]
    #: Draws the queue's options, and whether it is used by consumers that are opened though the options need none.
    kinds: ClassVar[st.SearchStrategy[tuple[dict[str, Any], bool]]]
    several: ClassVar[bool] = False
    steps: ClassVar[Counter[str]]
    idle: ClassVar[list[Db]]

    def __init__(self) -> None:
        super().__init__()
        self.broken = True  # until there is a queue
        self.side = self._connect()
        self.connections = [self._connect() for _ in range(SESSIONS)]
        self.sessions = [Session(f"session {n}") for n in range(SESSIONS)]
        self.own = Session("side")
        self.steps["machines"] += 1
        self.queue = f"jms.{id(self.steps)}.{self.steps['machines']}.a"
        #: The messages of the last receive that said that their groups are new to its consumer.
        self.firsts: set[int] = set()
        self.gaps = 0

    def _create(self, options: dict[str, Any], consumers: bool) -> None:
        self.options = options
        self.side.execute(
            "select howdah.create_queue(%s, %s)", (self.queue, Jsonb({"max_failed_deliveries": LIMIT} | options))
        )
        self.limit = bool({"message_limit", "byte_limit"} & options.keys())
        self.model = Turns(self.clock.now, options)
        self.consumers = consumers or self.model.tells_apart

    def _connect(self) -> Db:
        # One thing at a time happens here: whoever waits for a lock waits forever.
        return (
            self.idle.pop() if self.idle else psycopg.connect(self.dsn, autocommit=True, options="-c lock_timeout=2s")
        )

    # Transactions

    def _enter(self, number: int, begins: bool) -> tuple[Db, Session]:
        """The session's connection; in a transaction if it has one or begins one."""
        connection, session = self.connections[number], self.sessions[number]
        if begins and not session.open:
            connection.execute("begin")
            session.open = True
        return connection, session

    def _leave(self, session: Session) -> None:
        """A call outside a transaction has committed."""
        if not session.open:
            self.model.commit(session)

    def _open(self, session: int) -> int:
        """One of the sessions in a transaction."""
        return [n for n, s in enumerate(self.sessions) if s.open][session % sum(s.open for s in self.sessions)]

    @step(some_open, session=sessions)
    def commit(self, session: int) -> None:
        self._finish(self._open(session), "commit")

    @step(some_open, session=sessions)
    def rollback(self, session: int) -> None:
        self._finish(self._open(session), "rollback")

    def _finish(self, number: int, how: str) -> None:
        self.connections[number].execute(how.encode())
        self.sessions[number].mark = None
        (self.model.commit if how == "commit" else self.model.rollback)(self.sessions[number])

    @step(session=sessions)
    def savepoint(self, session: int) -> None:
        connection, there = self._enter(session, True)
        connection.execute("savepoint s")
        there.mark = len(there.undo)

    @step(lambda self: any(s.mark is not None for s in self.sessions), session=sessions)
    def rollback_to_savepoint(self, session: int) -> None:
        marked = [n for n, s in enumerate(self.sessions) if s.mark is not None]
        number = marked[session % len(marked)]
        self.connections[number].execute("rollback to savepoint s")
        self.model.rollback(self.sessions[number], self.sessions[number].mark or 0)

    @step(some_open, session=sessions)
    def kill(self, session: int) -> None:
        self._kill(self._open(session))

    def _kill(self, session: int) -> None:
        connection = self.connections[session]
        pid = connection.info.backend_pid
        self.side.execute("select pg_terminate_backend(%s)", (pid,))
        while self.side.execute("select from pg_stat_activity where pid = %s", (pid,)).fetchone() is not None:
            time.sleep(0.0005)
        connection.close()
        self.connections[session] = self._connect()
        self.sessions[session].mark = None
        self.model.rollback(self.sessions[session])
        for consumer in self.model.consumers:
            consumer.alive = consumer.alive and consumer.session != session

    @step(some_sent, by=st.sampled_from([1, 6, 31, 301]))
    def clock_forward(self, by: int) -> None:
        self.clock.advance(by)
        self.model.advance(by)

    def _pick(self, at: int, among: Any) -> Any:
        found = list(among)
        return found[at % len(found)]
