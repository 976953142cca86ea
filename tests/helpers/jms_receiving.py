"""Steps of jms_machine.py that receive and look."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from jms_consuming import Consuming
from jms_messages import Message, Predicate, Session, everything
from jms_sessions import (
    COLUMNS,
    FIND_SECONDS,
    Sessions,
    begin,
    few,
    index,
    selector,
    sessions,
    some_sent,
    step,
)
from jms_turns import Consumer
from support import Db


def some_at_will(machine: Sessions) -> bool:
    return some_sent(machine) and not machine.model.keeps_order(machine.own)


class Receiving(Consuming):
    """By selector, number, correlation id, or whatever comes; and browsing."""

    def _read(self, connection: Db, query: str, parameters: tuple[Any, ...], delivered: bool = True) -> list[int]:
        """Call a function that returns messages, and compare each with what was sent."""
        rows = connection.execute(f"select {COLUMNS}, body is not null from {query}".encode(), parameters).fetchall()
        return [self._check_row(row, delivered) for row in rows]

    def _check_row(self, row: tuple[Any, ...], delivered: bool = True) -> int:
        number: int
        number, priority, count, redelivered, headers, correlation, mode, position, whole = row
        assert whole, f"{number} came without its body"
        assert number in self.model.messages, f"{number} was never sent"
        message = self.model.messages[number]
        failures = message.failures + self.model.lapsed(message)
        if delivered or not message.touched:  # what an open transaction has counted is not seen by others
            assert count == failures + 1, f"delivery_count {count}: {message}"
        if headers and headers.pop("JMSXGroupFirstForConsumer", None):
            assert delivered
            assert self.model.sticky
            self.firsts.add(number)
        assert redelivered == (count > 1)
        assert (priority, headers or {}, correlation) == (message.priority, message.headers, message.correlation)
        assert (mode == "persistent", position) == (message.persistent, message.position)
        return number

    def _find(self, read: Callable[[], list[int]], session: Session, selects: Predicate) -> list[int]:
        """Receive; again if nothing comes though something is there, for it may take some calls to find it."""
        deadline = time.monotonic() + FIND_SECONDS
        while not (ids := read()) and (
            due := self._not_held(session, self.model.must_find(session, selects, self.sessions))
        ):
            assert time.monotonic() < deadline, f"not found: {due[:3]}"
        return ids

    def _not_held(self, session: Session, due: list[Message]) -> list[Message]:
        """Without those that another transaction has really locked to see whether they were given back."""
        return [m for m in due if not (self._may_be_locked(m, session) and self._is_locked(m))]

    def _is_locked(self, message: Message) -> bool:
        free = self.side.execute(
            "select from howdah.msgs where message_id = %s for update skip locked", (message.number,)
        ).fetchone()
        return (
            free is None
            and self.side.execute("select from howdah.msgs where message_id = %s", (message.number,)).fetchone()
            is not None
        )

    @step(some_sent, session=sessions, begins=begin, wanted=few, selector=selector, at=index)
    def receive(self, session: int, begins: bool, wanted: int, selector: tuple[str, Predicate] | None, at: int) -> None:
        connection, there = self._enter(session, begins)
        consumer = self._whose(session, at)
        text, selects = selector or (None, everything)
        self._receive(
            connection,
            there,
            consumer,
            lambda: self._read(
                connection,
                "howdah.receive(%s, %s, selector => %s, consumer => %s)",
                (self.queue, wanted, text, consumer and consumer.number),
            ),
            wanted,
            selects,
            text is None,
        )
        self._leave(there)

    @step(
        some_sent,
        session=sessions,
        wanted=few,
        at=index,
        times=few,
        how=st.sampled_from(["commit", "commit", "rollback", "kill"]),
    )
    def work(self, session: int, wanted: int, at: int, times: int, how: str) -> None:
        """A whole transaction that receives, with the same consumer, and how it ends."""
        if self.sessions[session].open:
            return
        consumer = self._whose(session, at)
        connection, there = self._enter(session, True)
        number = consumer and consumer.number
        for _ in range(times):
            self._receive(
                connection,
                there,
                consumer,
                lambda: self._read(connection, "howdah.receive(%s, %s, consumer => %s)", (self.queue, wanted, number)),
                wanted,
                everything,
                True,
            )
        if how == "kill":
            self._kill(session)
        else:
            self._finish(session, how)

    def _receive(
        self,
        connection: Db,
        there: Session,
        consumer: Consumer | None,
        read: Callable[[], list[int]],
        wanted: int,
        selects: Predicate,
        plain: bool,
        all_met: bool = True,
        **fate: Any,
    ) -> list[int]:
        """Receive what the model says may be received; it is consumed then, or what is given."""
        turn = self._turn(connection, there, consumer)
        if turn.refused:
            return []
        if not turn.admitted:
            ids = read()
            assert ids == [], f"not the turn of {consumer}"
            return ids
        there.received = there.open

        def mine(message: Message) -> bool:
            return selects(message) and turn.share(message)

        ids = self._find(
            self._with_ended(connection, there, turn, read),
            there,
            lambda m: mine(m) and self.model.is_free(m, there, consumer),
        )
        self.model.check_received(there, ids, wanted, mine, plain, all_met)
        if self.model.strict:
            self.model.check_strict(there, ids, mine)
        elif turn.alone and not any(s.received for s in self.sessions if s is not there):
            got = [self.model.messages[number] for number in ids]
            self.model.check_alone(there, got, lambda m: mine(m) and self.model.is_free(m, there, consumer))
        for number in ids:
            self.model.hand(there, self.model.messages[number], **fate)
        return ids

    def _may_be_laid_aside(self, *messages: Message) -> bool:
        """Whether an open transaction that looked for others may hold what lies under a lease that ran out."""
        return any(map(self.model.lapsed, messages)) and any(s.received for s in self.sessions)

    def _may_be_locked(self, message: Message, session: Session) -> bool:
        """Whether an open transaction may have locked it at the queue's head, if given back, and taken others."""
        return message.had and any(s.received for s in self.sessions if s is not session)

    @step(some_at_will, session=sessions, begins=begin, at=index)
    def receive_message(self, session: int, begins: bool, at: int) -> None:
        connection, there = self._enter(session, begins)
        message = self._pick(at, self.model.messages.values())
        if self._may_be_laid_aside(message):
            return self._leave(there)
        expected = [message] if self.model.deliverable(message, there) else []
        ids = self._read(connection, "howdah.receive_message(%s, %s)", (self.queue, message.number))
        expected = [m for m in expected if m.number in ids or not self._may_be_locked(m, there)]
        assert ids == [m.number for m in expected], f"{ids}: {message}"
        for number in ids:
            self.model.hand(there, self.model.messages[number])
        self._leave(there)

    @step(
        some_at_will,
        session=sessions,
        begins=begin,
        correlation=st.sampled_from(["a", "b"]),
        wanted=few,
    )
    def receive_correlated(self, session: int, begins: bool, correlation: str, wanted: int) -> None:
        connection, there = self._enter(session, begins)
        expected = [
            m for m in self.model.messages.values() if m.correlation == correlation and self.model.deliverable(m, there)
        ]
        if self._may_be_laid_aside(*expected):
            return self._leave(there)
        expected.sort(key=lambda m: (-m.priority, m.position))
        ids = self._read(connection, "howdah.receive_correlated(%s, %s, %s)", (self.queue, correlation, wanted))
        expected = [m for m in expected if m.number in ids or not self._may_be_locked(m, there)]
        assert ids == [m.number for m in expected[:wanted]]
        for number in ids:
            self.model.hand(there, self.model.messages[number])
        self._leave(there)

    @step(some_sent, selector=selector)
    def browse(self, selector: tuple[str, Predicate] | None) -> None:
        text, selects = selector or (None, everything)
        ids = self._read(self.side, "howdah.browse(%s, 10000, selector => %s)", (self.queue, text), delivered=False)
        shown = [self.model.messages[number] for number in ids]
        assert [(-m.priority, m.position) for m in shown] == sorted({(-m.priority, m.position) for m in shown})
        for message in self.model.messages.values():
            if message in shown:
                assert message.sent, f"shown: {message}"
                assert selects(message), f"shown: {message}"
                assert not self.model.expired(message), f"shown: {message}"
                assert message.touched or self.model.timely(message), f"shown: {message}"
            elif self.model.deliverable(message, None) and selects(message):
                raise AssertionError(f"not shown: {message}")
