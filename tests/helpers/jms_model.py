"""A JMS queue in Python, which says of each message who may have it; jms_machine.py holds a real queue to it.

It knows what each open transaction has changed, and undoes it on rollback, to a savepoint too. It promises no more than
the docs do: which message is found first is promised of messages that nobody ever had (docs/decisions/0006); of the
others, that they are found.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from jms_messages import LIMIT, Message, Predicate, Session


class Model:
    """The queue. `grouped`: with message groups; whose turn it is says jms_turns.py."""

    def __init__(self, now: datetime, grouped: bool) -> None:
        self.now = now
        self.grouped = grouped
        self.messages: dict[int, Message] = {}
        #: Deduplication keys: the first message's number, when it is forgotten, and whose transaction has sent it, if
        #: that is open.
        self.keys: dict[str, tuple[int, datetime, Session | None]] = {}
        #: Leases that ran out, and a message of each that somebody else received.
        self.lost: list[tuple[int, Message]] = []
        self.highest: dict[int, int] = {}

    # Transactions

    def change(self, session: Session, message: Message, **values: Any) -> None:
        """Set fields of a message, until the session's transaction rolls back."""
        before = message.state
        if message.touched is not session:
            message.before = before

        def undo() -> None:
            for name, value in before.items():
                setattr(message, name, value)

        session.undo.append(undo)
        message.touched = session
        message.put_back = message.put_back or (message.place != "unsent" and values.get("place") == "ready")
        for name, value in values.items():
            setattr(message, name, value)

    def fail(self, session: Session, message: Message) -> None:
        """Count a failed delivery, until the session's transaction rolls back."""
        message.failures += 1

        def undo() -> None:
            message.failures -= 1

        session.undo.append(undo)

    def note_key(self, session: Session, key: str, number: int, until: datetime) -> None:
        """Remember a deduplication key, until the session's transaction rolls back."""
        before = self.keys.get(key)

        def undo() -> None:
            self.keys.pop(key)
            if before is not None:
                self.keys[key] = before

        session.undo.append(undo)
        self.keys[key] = (number, until, session)

    def commit(self, session: Session) -> None:
        self.settle(session)
        self._end(session)

    def settle(self, session: Session) -> None:
        for message in self.messages.values():
            if message.touched is session:
                message.touched = None
                message.sent = True
        for key, (number, until, holder) in list(self.keys.items()):
            if holder is session:
                self.keys[key] = (number, until, None)

    def rollback(self, session: Session, to: int = 0) -> None:
        while len(session.undo) > to:
            session.undo.pop()()
        if to == 0 and session.mark is None:
            self._end(session)

    def _end(self, session: Session) -> None:
        session.undo.clear()
        session.mark = None
        session.open = session.received = False

    # What is where

    def lapsed(self, message: Message) -> bool:
        """Whether it is under a lease that has run out."""
        return message.lease is not None and message.due is not None and message.due <= self.now

    def expired(self, message: Message) -> bool:
        return message.expires is not None and message.expires <= self.now

    def doomed(self, message: Message) -> bool:
        """Whether it has failed so often that the next receive ends it."""
        return message.failures - message.uncounted + self.lapsed(message) >= LIMIT

    def timely(self, message: Message) -> bool:
        """Whether neither a delay nor a lease keeps it from being delivered now."""
        return message.due is None or message.due <= self.now

    def held_back(self, message: Message) -> bool:
        """Whether the next receive makes it wait for redelivery."""
        return message.held_until is not None and message.held_until > self.now

    def there(self, message: Message, session: Session | None) -> bool:
        """Whether it is in the queue for this session, in nobody else's hands."""
        if message.touched not in (None, session) or not (message.sent or message.touched is session):
            return False
        return message.place in ("ready", "parked")

    def deliverable(self, message: Message, session: Session | None) -> bool:
        """Whether a receive of this session may return it; what holds of its group is another matter."""
        return (
            self.there(message, session)
            and self.timely(message)
            and not self.held_back(message)
            and not self.expired(message)
            and not self.doomed(message)
        )

    def of_group(self, message: Message) -> list[Message]:
        """The others of its group, if groups matter."""
        if not self.grouped or message.group is None:
            return []
        return [m for m in self.messages.values() if m.group == message.group and m is not message]

    def leased(self, message: Message) -> bool:
        return message.place == "parked" and message.lease is not None and not self.lapsed(message)

    # What receives

    def check_received(
        self, session: Session, ids: list[int], wanted: int, selects: Predicate, plain: bool, all_met: bool = True
    ) -> None:
        """Assert that a receive of up to `wanted` messages may have returned these, and have them in hand then."""
        assert len(ids) <= wanted, f"{len(ids)} of {wanted}"
        assert len(set(ids)) == len(ids), f"twice in one call: {ids}"
        got: list[Message] = []
        for number in ids:
            assert number in self.messages, f"{number} was never sent"
            message = self.messages[number]
            assert self.deliverable(message, session), f"not to be delivered to {session.name}: {message}"
            assert selects(message), f"not selected: {message}"
            self._check_group(session, message, got, selects)
            got.append(message)
        # What was parked held its group up, whatever the others' priority and position, or was itself held up by what
        # lay ready before it.
        freed = [m for m in got if any("parked" in (o.place, m.place) for o in self.of_group(m))]
        for a, b in itertools.pairwise(got):
            assert a.priority >= b.priority or b in freed, f"priorities: {[m.priority for m in got]}"
        ready = [m for m in got if m.ordinary and m.place == "ready"]
        for a, b in itertools.pairwise(ready):
            assert a.priority > b.priority or a.position < b.position or b in freed, f"positions: {a} {b}"
        if plain and not self.grouped:
            self._check_order(got, all_met and len(ids) < wanted, session, selects)
        for message in ready:
            self.highest[message.priority] = max(self.highest.get(message.priority, 0), message.position)

    def _check_group(self, session: Session, message: Message, got: list[Message], selects: Predicate) -> None:
        for other in self.of_group(message):
            holder = other.touched if other.touched is not session else None
            foreign = holder and other.sent and other.place != "ready" and not self._is_ended_behind(other, message)
            assert not foreign, f"{message} while {other.touched.name if other.touched else ''} has {other}"
            behind = other.position > message.position
            assert behind or not self.leased(other), f"{message} while leased {other}"
            held_up = other.place == "parked" and other.waiting and other.due is not None and other.due > self.now
            assert behind or not held_up or not self.there(other, session), f"{message} while waiting {other}"
            earlier = other.ordinary and message.ordinary and other.priority == message.priority
            if earlier and other.position < message.position and other not in got and selects(other):
                assert not self.deliverable(other, session), f"{message} before {other}"

    def _is_ended_behind(self, other: Message, message: Message) -> bool:
        """Whether its lease, not yet run out, is being acknowledged.

        So it was not received, and holds up only what lies behind it, as before.
        """
        lease, due = other.before.get("lease"), other.before.get("due")
        unreceived = (due is not None and due > self.now) or not (other.touched and other.touched.received)
        return lease is not None and unreceived and other.position > message.position

    def _check_order(self, got: list[Message], rest: bool, session: Session, selects: Predicate) -> None:
        """What nobody ever had, and lies beyond all that was had, comes in order, and is met."""
        for message in self.messages.values():
            fresh = not message.had and message.alone and message.ordinary and message.place == "ready"
            if not fresh or message in got or message.position <= self.highest.get(message.priority, 0):
                continue
            if not self.deliverable(message, session) or not selects(message):
                continue
            assert not rest, f"not met: {message}"
            for other in got:
                assert other.priority >= message.priority, f"{other} before {message}"
                assert (
                    other.priority > message.priority
                    or not (other.ordinary and other.place == "ready")
                    or other.position < message.position
                ), f"{other} before {message}"

    def hand(self, session: Session, message: Message, **values: Any) -> None:
        """It was received; a lease that ran out has failed. Without values it is consumed, once that is committed."""
        message.had = True
        if self.lapsed(message) and message.lease is not None:
            self.lost.append((message.lease, message))
            self.fail(session, message)
        self.change(
            session, message, **({"waiting": False} | (values or {"place": "consumed", "lease": None, "due": None}))
        )

    def must_find(self, session: Session, selects: Predicate, sessions: Iterable[Session]) -> list[Message]:
        """What a receive that is repeated must come upon some time."""
        others = any(s.received for s in sessions if s is not session)
        return [
            m
            for m in self.messages.values()
            if self.deliverable(m, session)
            and selects(m)
            and not (others and self.lapsed(m))
            and (
                not self.of_group(m)
                or (
                    not others
                    and all(self._is_clean(o, session) for o in self.of_group(m))
                    and self._is_clean(m, session)
                )
            )
        ]

    def _is_clean(self, message: Message, session: Session) -> bool:
        """Whether it cannot hold up its group, whatever its place."""
        return message.touched is None and message.lease is None and not message.waiting

    # At the end

    def fates(self) -> dict[str, set[int]]:
        """The numbers of all that was committed, by place; of what is still in the queue, the way it may have gone."""
        result: dict[str, set[int]] = {"consumed": set(), "dead": set(), "discarded": set(), "left": set()}
        for message in self.messages.values():
            if message.sent:
                result[message.place if message.place in result else "left"].add(message.number)
        return result
