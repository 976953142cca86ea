"""Whose turn it is: the consumers of the queue of jms_model.py, with delivery policies, strict order and sticky groups.

A consumer is one session's. What a transaction does to consumers and groups (it closes dead ones, owns groups, is at
work) ends or comes back with it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby, pairwise
from typing import Any

from jms_messages import Message, Predicate, Session, everything
from jms_model import Model


@dataclass(eq=False)
class Consumer:
    """A consumer as others see it; `base`: the queue's last position when it was opened."""

    number: int
    session: int
    own_session: bool
    exclusive: bool
    priority: int
    timeout: timedelta
    seen: datetime
    base: int
    #: Whether the database session that opened it lives.
    alive: bool = True
    closed: bool = False
    #: The transaction that closed it, is receiving with it, or keeps its row locked.
    closing: Session | None = None
    user: Session | None = None
    locker: Session | None = None

    def visible(self, session: Session | None) -> bool:
        return not self.closed and (self.closing is None or self.closing is not session)


@dataclass
class Turn:
    """What a receive may do: nothing (it is `refused`, or not `admitted`), or take what is in its share."""

    consumer: Consumer | None = None
    refused: bool = False
    admitted: bool = True
    #: Nobody else is, so nothing that is free is passed by; strict order is another matter.
    alone: bool = False
    share: Predicate = everything


class Turns(Model):
    """The queue, and who may receive from it."""

    def __init__(self, now: datetime, options: dict[str, Any]) -> None:
        self.sticky: bool = options.get("message_groups") == "sticky"
        self.strict: bool = options.get("strict_order", False)
        # Strict order is more than groups of transactions ask for.
        super().__init__(now, self.sticky or (options.get("message_groups") == "transaction" and not self.strict))
        self.policy: str = options.get("delivery_policy", "shared")
        self.twin: Turns | None = None
        self.consumers: list[Consumer] = []
        self.owners: dict[str, Consumer | None] = {}
        #: Leases of consumers that live as long as their sessions.
        self.bearers: dict[int, Consumer] = {}
        #: The transaction that is at work where one at a time is.
        self.at_work: Session | None = None

    @property
    def tells_apart(self) -> bool:
        """Whether whoever receives needs a consumer."""
        return self.sticky or self.policy != "shared"

    def visible(self, session: Session | None) -> list[Consumer]:
        return [c for c in self.consumers if c.visible(session)]

    def keeps_order(self, session: Session) -> bool:
        """Whether nothing may be taken out of its order, by number or correlation."""
        ordered = self.grouped or self.strict or self.policy != "shared"
        return ordered or any(c.exclusive for c in self.visible(session))

    # Transactions

    def put(self, session: Session, thing: Any, **values: Any) -> None:
        """Set attributes, until the session's transaction rolls back."""
        before = {name: getattr(thing, name) for name in values}

        def undo() -> None:
            for name, value in before.items():
                setattr(thing, name, value)

        session.undo.append(undo)
        for name, value in values.items():
            setattr(thing, name, value)

    def give(self, session: Session, group: str, consumer: Consumer | None) -> None:
        """Have a group owned, until the session's transaction rolls back."""
        before = self.owners.get(group)

        def undo() -> None:
            self.owners[group] = before

        session.undo.append(undo)
        self.owners[group] = consumer

    def commit(self, session: Session) -> None:
        for consumer in self.consumers:
            consumer.closed = consumer.closed or consumer.closing is session
        for consumer in self.consumers:
            for name in ("closing", "user", "locker"):
                if getattr(consumer, name) is session:
                    setattr(consumer, name, None)
        if self.at_work is session:
            self.at_work = None
        if self.twin:
            self.twin.settle(session)
        super().commit(session)

    def advance(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)
        if self.twin:
            self.twin.now = self.now

    # Consumers

    def is_gone(self, consumer: Consumer) -> bool:
        """Whether who looks closes it.

        Its session ended, or it is silent; and no transaction uses it or is closing it.
        """
        if consumer.closing or consumer.user or (consumer.own_session and consumer.alive):
            return False
        return consumer.own_session or consumer.seen < self.now - consumer.timeout

    def close_gone(self, session: Session, but: Consumer | None = None) -> None:
        for consumer in self.visible(session):
            if consumer is not but and self.is_gone(consumer):
                self.put(session, consumer, closing=session)
                self._end_leases(session, consumer)

    def _end_leases(self, session: Session, consumer: Consumer) -> None:
        """What it has leased is due, but for what somebody has in hand."""
        for message in self.messages.values():
            borne = message.lease is not None and self.bearers.get(message.lease) is consumer
            if borne and self.leased(message) and message.touched in (None, session):
                self.change(session, message, due=self.now)

    def active(self, session: Session) -> Consumer | None:
        among = [c for c in self.visible(session) if c.exclusive or self.policy in ("single", "failover")]
        return min(among, key=lambda c: (-c.priority, c.number), default=None)

    def turn(self, session: Session, consumer: Consumer | None) -> Turn:
        """What a receive of this session with this consumer may do; whom it finds dead is closed, and it is at work."""
        turn = Turn(consumer)
        alone = self.strict
        if consumer or self.tells_apart or any(c.exclusive for c in self.visible(session)):
            if not consumer.visible(session) if consumer else self.tells_apart:
                return Turn(consumer, refused=True)
            if consumer:
                self.put(session, consumer, user=session)
                if consumer.seen < self.now - consumer.timeout / 4:
                    self.put(session, consumer, seen=self.now, locker=session)
            self.close_gone(session, consumer)
            active = self.active(session)
            turn.alone = active is not None and (self.policy in ("single", "failover") or self.grouped)
            alone = alone or active is not None
            turn.admitted = active in (None, consumer)
            if self.policy == "round_robin" and active is None:
                turn.share = self._share(session, consumer)
        if turn.admitted and alone:
            turn.admitted = self.at_work in (None, session)
            if turn.admitted:
                self.put(session, self, at_work=session)
                turn.admitted = not (self.strict and any(self._holds_up(m, session) for m in self.messages.values()))
        return turn

    def _share(self, session: Session, consumer: Consumer | None) -> Predicate:
        """Of n consumers the first has the positions 1, n + 1 and so on after those there when it was opened."""
        among = sorted(self.visible(session), key=lambda c: c.number)
        base, count, mine = among[0].base, len(among), among.index(consumer) if consumer else 0
        return lambda m: (m.position - base - 1) % count == mine

    def _holds_up(self, message: Message, session: Session) -> bool:
        """Whether, as this session sees it, it waits for redelivery or is leased, or did and another has it in hand."""
        seen = message.before if message.touched not in (None, session) else message.state
        waits: bool = seen["place"] == "parked" and (seen["waiting"] or seen["lease"] is not None)
        there = seen["sent"] or message.touched is session
        in_hand = message.touched not in (None, session)
        return waits and there and seen["due"] is not None and (in_hand or seen["due"] > self.now)

    def check_alone(self, session: Session, got: list[Message], selects: Predicate) -> None:
        """Who is alone gets nothing behind what is free, there from the beginning, and came back by rollbacks only."""
        for message in self.messages.values():
            steady = message.alone and message.ordinary and message.place == "ready" and not message.put_back
            if not steady or message in got or not self.deliverable(message, session) or not selects(message):
                continue
            # What somebody else has in hand of its group holds it up too: a lease that is being acknowledged.
            held_up = (
                o.place == "parked" or o in got or o.touched not in (None, session) for o in self.of_group(message)
            )
            if any(held_up):
                continue
            for other in got:
                behind = other.ordinary and other.place == "ready" and other.position > message.position
                assert other.priority >= message.priority, f"{other} before {message}"
                assert other.priority > message.priority or not behind, f"{other} before {message}"

    def check_strict(self, session: Session, ids: list[int], selects: Predicate) -> None:
        """In strict order what comes is what is first."""
        due = [m for m in self.messages.values() if self.deliverable(m, session) and selects(m)]
        due.sort(key=lambda m: (-m.priority, lane(m), m.due if m.place == "parked" else self.now, m.position))
        assert ids == [m.number for m in due[: len(ids)]], f"{ids} are not the first of {due[: len(ids) + 1]}"

    # Sticky groups

    def owner(self, message: Message, session: Session) -> Consumer | None:
        found = self.owners.get(message.group) if message.group else None
        return found if found and found.visible(session) else None

    def is_free(self, message: Message, session: Session, consumer: Consumer | None) -> bool:
        """Whether its group is nobody else's, or begins anew with it."""
        if not self.sticky or self.owner(message, session) in (None, consumer):
            return True
        beside = [m for m in self.of_group(message) if (m.priority, lane(m)) == (message.priority, lane(message))]
        first = all(m.position > message.position for m in beside if self.there(m, session))
        return message.headers.get("JMSXGroupSeq") == 1 and message.place == "ready" and first

    def own(self, session: Session, turn: Turn, got: list[Message], ended: list[Message], firsts: set[int]) -> set[str]:
        """Assert that groups were free for who got their messages, or ended them, and have them owned.

        The groups of which a message was ended, and one closes its group: what was taken in which order, and so whose
        they are, is not seen.
        """
        expected: set[int] = set()
        unsure = of_groups(ended)
        for _, run in groupby([*got, *ended], key=lambda m: (m.priority, lane(m))):
            for group, some in of_groups(run).items():
                owner = self.owner(some[0], session)
                starts = any(m.headers.get("JMSXGroupSeq") == 1 for m in [some[0], *unsure.get(group, [])])
                assert owner in (None, turn.consumer) or starts, f"{group} is {owner}'s: {some}"
                if owner is not turn.consumer:
                    expected.add(some[0].number)
                    self.put(session, turn.consumer, locker=session)
                expected |= {m.number for former, m in pairwise(some) if closes(former)}
                self.give(session, group, None if closes(some[-1]) else turn.consumer)
        sure = {m.number for m in got if m.group not in unsure}
        assert firsts & sure == expected & sure, f"first for their consumer: {firsts}, not {expected}"
        return {g for g, some in of_groups([*got, *ended]).items() if g in unsure and any(map(closes, some))}


def closes(message: Message) -> bool:
    """Whether its group is nobody's behind it."""
    found: bool = message.headers.get("JMSXGroupSeq", 0) < 0
    return found


def lane(message: Message) -> int:
    """Where it lies: among what is parked, non-persistent, or the others."""
    return 0 if message.place == "parked" else 2 if message.persistent else 1


def of_groups(messages: Iterable[Message]) -> dict[str, list[Message]]:
    found: dict[str, list[Message]] = {}
    for message in messages:
        if message.group:
            found.setdefault(message.group, []).append(message)
    return found
