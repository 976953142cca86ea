"""What clients of topics saw happen, and what each subscription must have got by then.

The exact checker of random schedules.

One thread drives all sessions, so the order of events is known: a subscription gets every message committed after the
snapshot that it began with, if it wants it, and no other.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Message:
    """One that somebody published.

    ``committed`` is the number of the event at which it became visible, None: it did not.
    """

    id: int
    topic: str
    producer: int
    number: int
    colour: str
    priority: int
    #: The client id that it was published under; None: none.
    client: str | None = None
    #: In a prepared transaction: its producer may have published more before it was committed.
    prepared: bool = False
    committed: int | None = None


@dataclass
class Subscription:
    """One subscription and what was received from it in transactions that committed."""

    name: str
    topics: list[str]
    began: int
    shared: bool = False
    colour: str | None = None
    prioritized: bool = False
    durable: bool = True
    failing: bool = False
    #: no_local: what is published under this client id is not for it.
    client: str | None = None
    #: Its consumers gave messages back out of order, or took a part of what they held.
    loose: bool = False
    ended: bool = False
    consumed: list[int] = field(default_factory=list)


@dataclass
class Work:
    """What one transaction did so far."""

    sent: list[Message] = field(default_factory=list)
    got: list[tuple[Subscription, int]] = field(default_factory=list)
    began: list[Subscription] = field(default_factory=list)
    ended: list[Subscription] = field(default_factory=list)

    def mark(self) -> tuple[int, int, int, int]:
        """Where a savepoint stands."""
        return len(self.sent), len(self.got), len(self.began), len(self.ended)

    def back_to(self, mark: tuple[int, int, int, int]) -> None:
        """Forget what was done after a savepoint."""
        sent, got, began, ended = mark
        del self.sent[sent:], self.got[got:], self.began[began:], self.ended[ended:]


class Ledger:
    """What committed, as the clients saw it."""

    def __init__(self) -> None:
        self.events = 0
        self.messages: dict[int, Message] = {}
        self.subscriptions: list[Subscription] = []
        self.rolled_back = 0

    def commit(self, work: Work, prepared: bool = False) -> None:
        """Note what a transaction did, at the event of its commit."""
        self.events += 1
        for message in work.sent:
            assert message.id not in self.messages, f"number {message.id} was given twice"
            message.committed, message.prepared = self.events, prepared
            self.messages[message.id] = message
        self.subscriptions += work.began
        for subscription, number in work.got:
            subscription.consumed.append(number)
        for subscription in work.ended:
            subscription.ended = True

    def undo(self, work: Work) -> None:
        """Note that a transaction came to nothing; what it gave back may come in another order."""
        self.events += 1
        self.rolled_back += len(work.got)
        for subscription, _ in work.got:
            subscription.loose |= subscription.shared

    def expected(self, subscription: Subscription) -> set[int]:
        """What a subscription must get."""
        return {
            message.id
            for message in self.messages.values()
            if message.topic in subscription.topics
            and message.committed is not None
            and message.committed > subscription.began
            and subscription.colour in (None, message.colour)
            and (subscription.client is None or subscription.client != message.client)
        }

    def missing(self, subscription: Subscription) -> set[int]:
        """What it has not got yet."""
        return self.expected(subscription) - set(subscription.consumed)

    def check(self, subscription: Subscription) -> None:
        """Raise AssertionError if a subscription lost or doubled messages, got another's or got them out of order."""
        expected = self.expected(subscription)
        strange = set(subscription.consumed) - expected
        assert not strange, f"{subscription} got {[self.messages.get(id) for id in sorted(strange)[:3]]}"
        doubled = [id for id, times in Counter(subscription.consumed).items() if times > 1]
        assert not doubled, f"{subscription} got twice {[self.messages[id] for id in doubled[:3]]}"
        lost = expected - set(subscription.consumed)
        assert subscription.ended or not lost, f"{subscription} lost {[self.messages[id] for id in sorted(lost)[:3]]}"
        if not (subscription.shared or subscription.failing or subscription.loose):
            self.check_order(subscription, subscription.consumed)

    def check_order(self, subscription: Subscription, ids: list[int]) -> None:
        """Raise AssertionError if one producer's messages (of a topic, of a priority where it counts) changed order."""
        last: dict[tuple[object, ...], int] = {}
        for id in ids:
            message = self.messages.get(id)
            if message is None or message.prepared:
                continue
            key = (message.producer, message.topic, message.priority if subscription.prioritized else 0)
            assert last.get(key, -1) < message.number, f"{subscription}: {message} after number {last[key]}"
            last[key] = message.number
