"""One pass over the store: what is new comes over, and what was consumed there is taken back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Any

import psycopg

from ...engine import Connection
from ...engine.errors import BadArgument, BadPriority, BodyTooLarge, ContractViolated, HowdahError
from .converting import EXPIRED, Names, StaysError, convert, size
from .outcome import Outcome
from .places import Places
from .source import Row, Store, Subscription

#: A batch ends early here: it lies in memory, ours and the server's.
BATCH_BYTES_MAX = 16 * 1024 * 1024
#: Errors that a message can be guilty of; others end the pass.
BLAMED = (BadArgument, BadPriority, BodyTooLarge, ContractViolated, psycopg.DataError)
UNREAD = "no durable subscription"


class Pass:
    """Copies from one store. Each batch is a transaction, and a pass that was cut off can be repeated."""

    def __init__(
        self,
        store: Store,
        connection: Connection,
        names: Names,
        outcome: Outcome,
        *,
        batch: int,
        final: bool,
        done: Callable[[int], object],
    ) -> None:
        self._store = store
        self._imports = connection.imports
        self._source = store.begin()
        self._batch = batch
        self._done = done
        self._outcome = outcome
        self._names = names
        self._connection = connection
        self._final = final

    def survey(self) -> None:
        """Say what a pass would do. Reads every message, and changes nothing. Raises BadArgument."""
        self._names.check(self._store.containers(), self._store.subscriptions())
        places = self._places()
        for subscription in self._store.subscriptions():
            line = self._outcome[_title(subscription)]
            try:
                line.here = places.name_of(subscription)
            except StaysError as error:
                self._outcome.stays(line.there, str(error))
        for row in self._all_rows():
            line = self._outcome[row.container]
            line.found += 1
            self._done(1)
            try:
                line.here = places.here(row.container)
                convert(row, self._names, self._store.now)
            except StaysError as error:
                self._outcome.stays(row.container, str(error), row.store_id, told=str(error) != EXPIRED)
            else:
                line.comes += 1

    def copy(self) -> list[str]:
        """Make the pass. Returns what is received from again: the final pass ends with that. Raises BadArgument."""
        self._names.check(self._store.containers(), self._store.subscriptions())
        self._imports.begin(self._source)
        places = self._places()
        subscriptions = self._subscribe(places)
        for container, rows in groupby(self._all_rows(), key=lambda row: row.container):
            for batch in self._batches(container, rows):
                self._send(places, container, batch)
        self._take_back(places)
        self._read(places, subscriptions)
        return self._imports.finish(self._source) if self._final else []

    def _places(self) -> Places:
        return Places(self._connection, self._names, self._source, final=self._final)

    def _all_rows(self) -> Iterator[Row]:
        """Topics only as far as somebody subscribed to them: nobody will read the rest.

        A wildcard reads several topics in one order. Of the others each comes by itself, in larger batches.
        """
        yield from self._store.queues()
        subscriptions = self._store.subscriptions()
        read = {each.container for each in subscriptions}
        wild = {each.container for each in subscriptions if each.pattern != each.container}
        yield from self._store.topics(read - wild, together=False)
        yield from self._store.topics(wild, together=True)
        for container, number in self._store.containers().items():
            if container.startswith("topic://") and container not in read:
                self._outcome[container].found += number
                self._outcome[container].reasons[UNREAD] += number
                self._done(number)

    def _subscribe(self, places: Places) -> list[tuple[Subscription, str]]:
        """Subscribe before anything is published, so that each subscription gets all; what it had read goes later."""
        found = []
        there = set()
        for subscription in self._store.subscriptions():
            line = self._outcome[_title(subscription)]
            try:
                there.add(places.name_of(subscription))
                line.here = places.subscribe(subscription)
                found.append((subscription, line.here))
            except StaysError as error:
                self._outcome.stays(line.there, str(error))
        for name in places.end_others(there):
            self._outcome[name].here = f"{name} (ended)"
        return found

    def _batches(self, container: str, rows: Iterable[Row]) -> Iterator[list[dict[str, Any]]]:
        batch: list[dict[str, Any]] = []
        held = 0
        for row in rows:
            self._outcome[container].found += 1
            self._done(1)
            try:
                message = convert(row, self._names, self._store.now)
            except StaysError as error:
                self._outcome.stays(container, str(error), row.store_id, told=str(error) != EXPIRED)
                continue
            batch.append(message)
            held += size(message)
            if len(batch) >= self._batch or held >= BATCH_BYTES_MAX:
                yield batch
                batch, held = [], 0
        if batch:
            yield batch

    def _send(self, places: Places, container: str, batch: list[dict[str, Any]]) -> None:
        line = self._outcome[container]
        try:
            line.here = places.make(container)
        except StaysError as error:
            for message in batch:
                self._outcome.stays(container, str(error), message["message_id"])
            return
        try:
            stored, repeated = self._imports.messages(self._source, line.here, batch)
        except BLAMED as error:
            if len(batch) == 1:
                self._outcome.stays(container, str(error), batch[0]["message_id"])
                return
            for message in batch:
                self._send(places, container, [message])
            return
        line.stored += stored
        line.repeated += repeated

    def _take_back(self, places: Places) -> None:
        """Take back from the queues what is no longer there. Of a queue that is empty there, only our record tells."""
        containers = {name for name in self._store.containers() if name.startswith("queue://")}
        known = {self._outcome[name].here for name in containers}
        for name in sorted(places.filled - known):
            containers.add(places.there(name))
        for container in sorted(containers):
            try:
                here = places.here(container)
            except StaysError:
                continue
            for keys in self._imported(here):
                if gone := self._store.gone(container, keys):
                    self._outcome[container].withdrawn += self._imports.withdraw(self._source, here, gone)

    def _read(self, places: Places, subscriptions: list[tuple[Subscription, str]]) -> None:
        """Pass, for each subscription, what it has read there."""
        for container, group in groupby(subscriptions, key=lambda pair: pair[0].container):
            readers = list(group)
            topic = places.here(container)
            after: int | None = None
            prioritized = any(subscription.prioritized for subscription, _ in readers)
            while rows := self._imports.imported(self._source, topic, after, self._batch):
                after = rows[-1]["store_id"]
                gone = set(self._store.gone(container, [row["key"] for row in rows]))
                priorities = self._store.priorities([row["store_id"] for row in rows]) if prioritized else {}
                for subscription, name in readers:
                    read = [
                        row["key"]
                        for row in rows
                        if row["key"] in gone or subscription.has_read(row["store_id"], priorities.get(row["store_id"]))
                    ]
                    if read:
                        line = self._outcome[_title(subscription)]
                        line.withdrawn += self._imports.read(self._source, topic, name, read)

    def _imported(self, here: str) -> Iterator[list[str]]:
        after: int | None = None
        try:
            while rows := self._imports.imported(self._source, here, after, self._batch):
                after = rows[-1]["store_id"]
                yield [row["key"] for row in rows]
        except HowdahError as error:
            if error.sqlstate != "HD001":
                raise  # a queue that is not there has nothing


def _title(subscription: Subscription) -> str:
    return f"{subscription.container} {subscription.client_id}:{subscription.name}"
