"""Many consumers over few database connections: the shared model of services."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Protocol, Self

from ..calls import Call, receiving
from ..calls.message import Message
from ..database.waiting import PAUSE_MIN, Idle
from ..errors import BadArgument, IllegalState
from ..handling.functions import check_async_listener
from ..handling.outcomes import Rule, Rules
from ..sessions.owner import SessionOwner
from .dispatch import PAUSE_MAX_FAILING, AsyncTransactedListeners
from .line import AsyncLine
from .loans import AsyncLoans
from .monitor import AsyncMonitor
from .session import AsyncSession

log = logging.getLogger("howdah.listener")

Handler = Callable[[Message, AsyncSession], Awaitable[Any]]


class SharedOwner(SessionOwner, Protocol):
    """A connection, as its shared consumers know it."""

    async def call(self, call: Call[Any]) -> Any:
        """Run a call in a transaction of its own."""


class AsyncSharedConsumer:
    """Handles the messages of one queue. It has a database connection only while it receives and handles one."""

    def __init__(self, queue: str, handler: Handler, rules: Rules, owner: SharedOwner, loans: AsyncLoans) -> None:
        self._queue = queue
        self._handler = handler
        self._rules = rules
        self._owner = owner
        self._loans = loans
        self._failing = PAUSE_MIN
        self.closed = False

    @property
    def queue(self) -> str:
        """The queue or subscription that it receives from."""
        return self._queue

    async def deliver(self, found: Callable[[], None]) -> bool:
        """Handle one message if there is one. Pause first after an error that no message caused."""
        if self.closed or not self._owner.started:
            return False
        try:
            delivered = await self._deliver(found)
        except Exception as error:  # noqa: BLE001 - it must go on
            log.warning("consumer of %s goes on after %s: %s", self._queue, type(error).__name__, error)
            self._failing = min(self._failing * 2, PAUSE_MAX_FAILING)
            await asyncio.sleep(self._failing)
            return not self.closed
        self._failing = PAUSE_MIN
        return delivered

    async def _deliver(self, found: Callable[[], None]) -> bool:
        async with await AsyncSession.owning(self._owner, self._loans, transacted=True) as session:

            async def handle(message: Message) -> Any:
                found()
                return await self._handler(message, session)

            listeners = AsyncTransactedListeners(session)
            listeners.set(self, self._queue, handle, self._rules)
            return await listeners.deliver(self, Idle(None, session.wake))


class AsyncSharedConsumers:
    """The consumers of a connection that share its pool, and the listening connections that serve them."""

    def __init__(self, owner: SharedOwner, loans: AsyncLoans, conninfo: str | None, monitor_limit: int) -> None:
        """monitor_limit: consumers that one listening connection serves at most; 0: any number."""
        if conninfo is None:
            raise BadArgument("the pool decides at each connection where it connects to", "Connect by DSN.")
        if monitor_limit < 0:
            raise BadArgument(f"monitor_limit is 0 (any number) or more, not {monitor_limit}")
        self._owner = owner
        self._loans = loans
        self._conninfo = conninfo
        self._limit = monitor_limit
        self._monitors: list[AsyncMonitor] = []
        self._served: dict[AsyncSharedConsumer, tuple[AsyncMonitor, AsyncLine]] = {}
        self._closed = False

    def add(self, queue: str, handler: Handler, *, rules: Iterable[Rule] = ()) -> AsyncSharedConsumer:
        """Add a consumer. ``await handler(message, session)`` runs in the transaction that received the message.

        It is committed if the handler returns. If it raises, the transaction is rolled back and the failure recorded.
        Raises BadArgument for a generator function, and for a plain one in asyncio or an asynchronous one elsewhere.
        """
        check_async_listener(handler)
        if self._closed:
            raise IllegalState("the consumers are closed")
        consumer = AsyncSharedConsumer(queue, handler, Rules(rules), self._owner, self._loans)
        monitor = self._with_room()
        self._served[consumer] = monitor, monitor.add(consumer)
        return consumer

    def _with_room(self) -> AsyncMonitor:
        for monitor in self._monitors:
            if self._limit == 0 or monitor.consumers < self._limit:
                return monitor
        monitor = AsyncMonitor(self._conninfo, lambda since: self._owner.call(receiving.wait_many(since)))
        self._monitors.append(monitor)
        return monitor

    async def remove(self, consumer: AsyncSharedConsumer) -> None:
        """End a consumer after the message in hand. A listening connection that serves nobody is closed."""
        consumer.closed = True
        served = self._served.pop(consumer, None)
        if served is None:
            return
        monitor, _ = served
        await monitor.remove(consumer)
        if monitor.consumers == 0 and monitor in self._monitors:
            self._monitors.remove(monitor)
            await monitor.close()

    async def close(self) -> None:
        """End all consumers, each after the message in hand. A second call does nothing."""
        self._closed = True
        for consumer in self._served:
            consumer.closed = True
        for consumer in list(self._served):
            await self.remove(consumer)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()
