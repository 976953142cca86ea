"""The queues, topics and subscriptions here that messages come over into."""

from __future__ import annotations

from collections.abc import Iterable

from ...engine import Connection
from ...engine.admin.admin import Admin
from ...engine.admin.imports import Imports
from ...engine.errors import BadName, HowdahError, InvalidSelector, NotAllowed, QueueExists
from .converting import PREPARED, Names, StaysError
from .source import Subscription

#: Errors that one queue or subscription can be guilty of; others end the pass.
BLAMED = (BadName, InvalidSelector, NotAllowed, QueueExists)


class Places:
    """Finds or makes them. Until the final pass nobody receives from them: ActiveMQ's consumers still do."""

    def __init__(self, connection: Connection, names: Names, source: str, *, final: bool) -> None:
        self._connection = connection
        self._names = names
        self._source = source
        self._final = final
        self._queues = {row["queue"]: row["receiving_paused"] for row in connection.admin.list_queues()}
        self._topics = {row["topic"] for row in connection.admin.list_topics()}
        subscriptions = connection.admin.list_subscriptions()
        self._subscriptions = {row["subscription"] for row in subscriptions}
        rows = [row for row in connection.imports.list() if row["source"] == source]
        self.held: set[str] = {name for row in rows for name in row["held"]}
        self.filled: set[str] = {name for row in rows for name in row["queues"]}
        self._read = {row["topic_name"] for row in subscriptions if row["subscription"] not in self.held}
        self.began = rows[0]["created_at"] if rows else None
        self._known: dict[str, str | StaysError] = {}
        self._kinds: dict[str, str] = {}

    def here(self, container: str) -> str:
        """Return the name here of a queue or topic. Raises StaysError, and says why."""
        if container not in self._known:
            try:
                self._known[container] = self._look(container)
            except StaysError as error:
                self._known[container] = error
        found = self._known[container]
        if isinstance(found, StaysError):
            raise found
        return found

    def there(self, name: str) -> str:
        """Return what a queue here that came over is called there."""
        return f"queue://{self._names.there(name)}"

    def make(self, container: str) -> str:
        """Return the name here of a queue or topic that is there now. Raises StaysError."""
        name = self.here(container)
        if name in self._queues or name in self._topics:
            return name
        is_topic = container.startswith("topic://")
        try:
            with self._connection.session() as session, session.transaction():
                if is_topic:
                    session.admin.create_topic(name)
                else:
                    session.admin.create_queue(name)
                    if not self._final:
                        self._pause(Imports(session.call), name)
        except BLAMED as error:
            self._known[container] = StaysError(str(error))
            raise StaysError(str(error)) from error
        if is_topic:
            self._topics.add(name)
        else:
            self._queues[name] = not self._final
        return name

    def subscribe(self, subscription: Subscription) -> str:
        """Return the name of the subscription here, which is there now. Raises StaysError.

        Nobody receives from a new one before the end of the pass, also of the final one: it passes what it has read.
        """
        if subscription.prepared:
            raise StaysError(PREPARED)
        topic = self.topic_of(subscription)
        client_id, own_name = self._names.subscription(subscription.client_id, subscription.name)
        self.make(subscription.container)
        try:
            with self._connection.session() as session, session.transaction():
                name = Admin(session.call).subscribe(
                    topic,
                    own_name,
                    client_id=client_id,
                    selector=subscription.selector,
                    since=self.began,
                )
                if name not in self._subscriptions or name in self.held:
                    self._pause(Imports(session.call), name)
        except HowdahError as error:
            if isinstance(error, BLAMED):
                raise StaysError(str(error)) from error
            raise
        self._subscriptions.add(name)
        return name

    def name_of(self, subscription: Subscription) -> str:
        """Return what a subscription is called here. Raises StaysError."""
        client_id, name = self._names.subscription(subscription.client_id, subscription.name)
        return f"{self.topic_of(subscription)}:{client_id}:{name}"

    def topic_of(self, subscription: Subscription) -> str:
        """Return what a subscription subscribes to here: its topic, or its wildcard. Raises StaysError."""
        if subscription.pattern == subscription.container:
            return self.here(subscription.container)
        return self._names.pattern(subscription.pattern)

    def end_others(self, names: Iterable[str]) -> list[str]:
        """End the subscriptions that came over and are no longer there. Returns their names."""
        ended = sorted(name for name in self.held - set(names) if name in self._subscriptions and ":" in name)
        for name in ended:
            self._connection.admin.unsubscribe(name)
        return ended

    def _pause(self, imports: Imports, name: str) -> None:
        imports.hold(self._source, name)
        self.held.add(name)

    def _look(self, container: str) -> str:
        name = self._names.here(container)
        kind = container.partition("://")[0]
        if self._kinds.setdefault(name, kind) != kind or name in (
            self._topics if kind == "queue" else self._queues.keys()
        ):
            other = "topic" if kind == "queue" else "queue"
            raise StaysError(f"{name} is a {other} here: use --map {container}=NAME")
        if kind == "queue" and not self._final and self._queues.get(name) is False:
            raise StaysError(f"queue {name} is received from here: howdah queue pause --receiving {name}, or --final")
        if kind == "topic" and not self._final and name in self._read:
            raise StaysError(f"topic {name} has other subscriptions here, which would read what comes: --final")
        return name
