"""Steps of jms_machine.py that send."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import psycopg
from hypothesis import strategies as st
from hypothesis.stateful import initialize
from jms_messages import Message, Session
from jms_sessions import (
    WINDOW,
    Sessions,
    begin,
    headers,
    seconds,
    sessions,
    step,
)
from psycopg.types.json import Jsonb
from support import Db


class Sending(Sessions):
    """One message or many, in a transaction or not, to a queue with a limit or without."""

    def _sent(self, session: Session, number: int, **fields: Any) -> None:
        message = Message(number, place="unsent", alone=not session.open, **fields)
        self.model.messages[number] = message
        self.model.change(session, message, place="parked" if message.due else "ready")

    def _later(self, by: int | None) -> datetime | None:
        return None if by is None else self.model.now + timedelta(seconds=by)

    def _enter_sending(self, number: int, begins: bool) -> tuple[Db, Session]:
        """To a limited queue outside transactions only: a send waits for what others have sent and not committed."""
        return (self.side, self.own) if self.limit else self._enter(number, begins)

    def _limited(self, connection: Db, sizes: list[int], lowest: int, query: str, parameters: tuple[Any, ...]) -> Any:
        """Send; see that those whose turn it is make room in a limited queue, and no more than have to.

        None: it was refused.

        `sizes`: of the bodies that are new; `lowest`: their lowest priority.
        """
        if not self.limit:
            return connection.execute(query.encode(), parameters).fetchone()
        before = self._stored()
        stored = [self.model.messages[number] for number in before]
        evictable = [m for m in stored if self.model.there(m, None) and not self.model.leased(m)]
        if self.by_priority:
            evictable = [m for m in evictable if m.priority <= lowest]
        sure = [m for m in evictable if not self.model.expired(m) and not self.model.doomed(m)]
        needed = self._missing(stored, sizes)
        try:
            row = connection.execute(query.encode(), parameters).fetchone()
        except psycopg.errors.DatabaseError as error:
            if error.sqlstate != "HD018":
                raise
            # What a transaction that looks for others has locked stays.
            left = [m for m in stored if m not in sure or any(s.received for s in self.sessions)]
            assert self._missing(left, sizes) > 0, f"refused, although {sure} might go"
            return None
        gone = [self.model.messages[number] for number in before - self._stored()]
        gone.sort(key=self._before_others)
        assert all(m in evictable for m in gone), f"made room: {gone}"
        left = [m for m in stored if m not in gone]
        assert self._missing(left, sizes) == 0, f"{gone} made room, not {needed}"
        assert not gone or self._missing([*left, gone[-1]], sizes) > 0, f"{gone} made room, not {needed}"
        for message in gone:
            older = [m for m in sure if m in left and m.place == "ready"]
            older = [m for m in older if self._before_others(m) < self._before_others(message)]
            older = [m for m in older if not self._is_locked(m)]
            assert not older, f"{message} made room before {older}"
            if message.lease is not None:
                self.model.lost.append((message.lease, message))
            place = "expired" if self.model.expired(message) else "dead"
            self.model.change(self.own, message, place=place, lease=None, due=None)
        self.model.commit(self.own)
        return row

    def _is_locked(self, message: Message) -> bool:
        """Whether a transaction that looked for others holds a message that it was not given: it stays then."""
        query = "select message_id from howdah.{} m where m.message_id = %s for update skip locked"
        places = ("msgs", "msgs_nonpersistent")
        found = [self.side.execute(query.format(place).encode(), (message.number,)).fetchall() for place in places]
        return any(s.received for s in self.sessions) and found == [[], []]

    def _missing(self, stored: list[Message], sizes: list[int]) -> int:
        """By how many messages, or bytes of bodies, these and new ones exceed the limit."""
        if not sizes:
            return 0
        if "byte_limit" in self.options:
            return max(0, sum(m.size for m in stored) + sum(sizes) - int(self.options["byte_limit"]))
        return max(0, len(stored) + len(sizes) - int(self.options["message_limit"]))

    def _before_others(self, message: Message) -> tuple[bool, int, int]:
        """In which order messages make room: ready ones first, by priority if that is the queue's way, the oldest."""
        return (message.place == "parked", message.priority if self.by_priority else 0, message.position)

    @property
    def by_priority(self) -> bool:
        return self.options.get("limit_behaviour") == "remove_lowest_priority"

    def _stored(self, connection: Db | None = None) -> set[int]:
        """The numbers of what lies in the queue's tables; committed, unless another connection looks."""
        rows = (
            (connection or self.side)
            .execute(
                " union all ".join(
                    f"select t.message_id from howdah.{table} t join howdah.destinations d on d.id = t.destination_id"
                    " where d.name = %(queue)s"
                    for table in ("msgs", "msgs_nonpersistent", "parked", "leased")
                ).encode(),
                {"queue": self.queue},
            )
            .fetchall()
        )
        return {row[0] for row in rows}

    @initialize(kind=st.runner().flatmap(lambda machine: machine.kinds), number=st.sampled_from([0, 12, 12, 100]))
    def create(self, kind: tuple[dict[str, Any], bool], number: int) -> None:
        """The queue, with something of each group, or a backlog, in which receives draw tickets."""
        self._create(*kind)
        number = min(number, 6) if self.limit else number
        headers = [{"JMSXGroupID": f"g{n % 3 + 1}"} if number <= 12 else {} for n in range(number)]
        if number:
            self._send_batch(self.side, self.own, [4] * number, headers, None)
        self.broken = False

    @step(
        session=sessions,
        begins=begin,
        priority=st.sampled_from([4, 4, 0, 5, 9]),
        headers=headers,
        correlation=st.sampled_from([None, None, "a", "b"]),
        live=seconds,
        delay=seconds,
        persistent=st.sampled_from([True, True, True, False]),
        key=st.sampled_from([None, None, None, "k1", "k2"]),
    )
    def send(
        self,
        session: int,
        begins: bool,
        priority: int,
        headers: dict[str, Any],
        correlation: str | None,
        live: int | None,
        delay: int | None,
        persistent: bool,
        key: str | None,
    ) -> None:
        connection, there = self._enter_sending(session, begins)
        known = self.model.keys.get(key) if key else None
        if known and known[2] not in (None, there):
            return  # it would wait for the other transaction
        size = 2500 if correlation == "a" or priority == 5 else 1
        row = self._limited(
            connection,
            [] if known and known[1] > self.model.now else [size],
            priority,
            "select howdah.send(%s, repeat('x', %s::integer), headers => %s, priority => %s,"
            " correlation_id => %s, time_to_live => %s,"
            " delay => %s, delivery_mode => %s, deduplication_key => %s)",
            (
                self.queue,
                size,
                Jsonb(headers) if headers else None,
                priority,
                correlation,
                live and timedelta(seconds=live),
                delay and timedelta(seconds=delay),
                "persistent" if persistent else "non-persistent",
                key,
            ),
        )
        if row is None:
            return
        (number,) = row
        if known and known[1] > self.model.now:
            assert number == known[0], f"{key} was sent as {known[0]}, not {number}"
        else:
            self._sent(
                there,
                number,
                priority=priority,
                headers=headers,
                correlation=correlation,
                persistent=persistent,
                delayed=delay is not None,
                expires=self._later(live),
                due=self._later(delay),
                size=size,
            )
            if key:
                self.model.note_key(there, key, number, self.model.now + WINDOW)
        self._leave(there)

    @step(
        session=sessions,
        begins=begin,
        priorities=st.lists(st.sampled_from([4, 4, 7]), min_size=1, max_size=5),
        headers=headers,
        live=seconds,
    )
    def send_batch(
        self, session: int, begins: bool, priorities: list[int], headers: dict[str, Any], live: int | None
    ) -> None:
        connection, there = self._enter_sending(session, begins)
        self._send_batch(connection, there, priorities, [headers] * len(priorities), live)

    def _send_batch(
        self, connection: Db, session: Session, priorities: list[int], headers: list[dict[str, Any]], live: int | None
    ) -> None:
        sizes = [n % 2 * 2500 for n in range(1, len(priorities) + 1)]
        row = self._limited(
            connection,
            sizes,
            min(priorities),
            (
                "select howdah.send_batch(%s, array(select repeat('x', n %% 2 * 2500)"
                " from generate_series(1, %s::integer) n), headers => %s, priorities => %s, time_to_live => %s)"
            ),
            (self.queue, len(priorities), [Jsonb(h) for h in headers], priorities, live and timedelta(seconds=live)),
        )
        if row is None:
            return
        (numbers,) = row
        assert numbers == sorted(set(numbers))
        for number, priority, header, size in zip(numbers, priorities, headers, sizes, strict=True):
            self._sent(
                session,
                number,
                priority=priority,
                headers=header,
                correlation=None,
                persistent=True,
                delayed=False,
                expires=self._later(live),
                due=None,
                size=size,
            )
        self._leave(session)

    @step(lambda self: not self.limit and self.gaps < 2)
    def lose_batch(self) -> None:
        """A batch that is rolled back leaves a gap of positions."""
        self.gaps += 1
        with self.side.transaction(force_rollback=True):
            self.side.execute("select howdah.send_batch(%s, array_fill('x'::text, array[100]))", (self.queue,))
