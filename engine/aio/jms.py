"""Sessions with acknowledge modes for asyncio: the same sessions, each on a thread of its own.

``AckSession`` decides what counts as consumed, what is held ahead and what is renewed; here its calls are only awaited.
A cancelled call runs to its end, because a statement cannot be divided. The next ``receive`` gets what a cancelled one
got.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Self, TypeVar, Unpack

from ..calls.bodies import Body
from ..calls.options import SendManyOptions, SendOptions
from ..errors import IllegalState
from ..jms.consumer import AckConsumer
from ..jms.holding import Delivery
from ..jms.modes import AckMode, AckType
from ..jms.options import ConsumerOptions, SubscriberOptions
from ..jms.session import AckSession

T = TypeVar("T")


class AsyncAckSession:
    """Made by ``AsyncConnection.jms_session``. One task uses it at a time; any task may close it."""

    def __init__(self, session: AckSession) -> None:
        self._session = session
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="howdah-aio-session")

    async def consumer(self, destination: str, **options: Unpack[ConsumerOptions]) -> AsyncAckConsumer:
        """As ``AckSession.consumer``."""
        return AsyncAckConsumer(self, await self.do(lambda: self._session.consumer(destination, **options)))

    async def subscriber(self, topic: str, **options: Unpack[SubscriberOptions]) -> AsyncAckConsumer:
        """As ``AckSession.subscriber``."""
        return AsyncAckConsumer(self, await self.do(lambda: self._session.subscriber(topic, **options)))

    async def send(self, queue: str, body: Body, **options: Unpack[SendOptions]) -> int:
        """As ``AckSession.send``: with the commit, if the session is transacted."""
        return await self.do(lambda: self._session.send(queue, body, **options))

    async def send_many(self, queue: str, bodies: Sequence[Body], **options: Unpack[SendManyOptions]) -> list[int]:
        """As ``AckSession.send_many``."""
        return await self.do(lambda: self._session.send_many(queue, bodies, **options))

    async def acknowledge(self, message: Delivery | None = None) -> None:
        """Acknowledge all that the session has delivered, or call ``message.acknowledge()``. Raises LeaseLost."""
        await self.do(self._session.acknowledge if message is None else message.acknowledge)

    async def recover(self) -> None:
        """As ``AckSession.recover``: what was delivered and not acknowledged comes again."""
        await self.do(self._session.recover)

    async def commit(self) -> None:
        """As ``AckSession.commit``. Raises TransactionRolledBack."""
        await self.do(self._session.commit)

    async def rollback(self) -> None:
        """As ``AckSession.rollback``."""
        await self.do(self._session.rollback)

    async def in_transaction(self, work: Callable[[Any], T]) -> T:
        """Call a function with the transacted session's connection, psycopg's, on the session's thread."""
        return await self.do(lambda: work(self._session.connection))

    @property
    def mode(self) -> AckMode:
        """The acknowledge mode."""
        return self._session.mode

    @property
    def transacted(self) -> bool:
        """Whether it has a transaction."""
        return self._session.transacted

    @property
    def acks(self) -> Counter[AckType]:
        """Acknowledgements so far, by kind."""
        return self._session.acks

    @property
    def closed(self) -> bool:
        """Whether it is closed."""
        return self._session.closed

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """Have the session's thread do something, after what it is doing."""
        self._session.check_open()
        return self._thread.submit(work)

    async def do(self, work: Callable[[], T]) -> T:
        """Have the session's thread do something, and wait for it."""
        return await asyncio.shield(asyncio.wrap_future(self.submit(work)))

    def wake(self) -> None:
        """Have a waiting receive look again at once."""
        self._session.wake()

    async def close(self) -> None:
        """As ``AckSession.close``; receives that wait return None. A second call does nothing."""
        await asyncio.shield(asyncio.to_thread(self._close))

    def _close(self) -> None:
        self._session.close()
        self._thread.shutdown()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()


class AsyncAckConsumer:
    """Receives from one queue or subscription, by ``receive`` or, in place of a listener, by ``async for``."""

    def __init__(self, session: AsyncAckSession, consumer: AckConsumer) -> None:
        self.session = session
        self._consumer = consumer
        #: Messages that cancelled receives got and consumed.
        self._kept: deque[Delivery] = deque()

    @property
    def queue(self) -> str:
        """Where it receives from."""
        return self._consumer.queue

    async def receive(self, timeout: float | None = None) -> Delivery | None:
        """As ``AckConsumer.receive``. Cancelled, it loses nothing: the next call returns what this one got."""
        given_up = threading.Event()
        future = self.session.submit(lambda: self._receive(given_up, timeout))
        try:
            return await asyncio.shield(asyncio.wrap_future(future))
        except asyncio.CancelledError:
            given_up.set()
            self.session.wake()
            if future.done():  # the loop must not wait for the session's lock
                with suppress(IllegalState, RuntimeError):  # another task has closed the session: all goes back
                    self.session.submit(lambda: self._keep(future))
            else:
                future.add_done_callback(self._keep)
            raise

    def _receive(self, given_up: threading.Event, timeout: float | None) -> Delivery | None:
        """On the session's thread."""
        if given_up.is_set():
            return None
        return self._kept.popleft() if self._kept else self._consumer.receive_unless(given_up.is_set, timeout)

    def _keep(self, future: Future[Delivery | None]) -> None:
        if future.cancelled() or future.exception() is not None:
            return
        message = future.result()
        if message is not None and not self._consumer.undeliver(message):
            self._kept.append(message)

    async def receive_nowait(self) -> Delivery | None:
        """The next message if there is one now."""
        return await self.receive(timeout=0)

    async def __aiter__(self) -> AsyncIterator[Delivery]:
        """Messages until consumer or session is closed."""
        while not self.session.closed:
            try:
                message = await self.receive()
            except IllegalState:
                if self.session.closed:  # since the look above
                    return
                raise
            if message is None:
                return
            yield message

    async def acknowledge(self) -> None:
        """As ``AckConsumer.acknowledge``: all that this consumer has delivered is consumed."""
        await self.session.do(self._consumer.acknowledge)

    async def acknowledge_interval(self, first: Delivery, last: Delivery) -> int:
        """As ``AckConsumer.acknowledge_interval``."""
        return await self.session.do(lambda: self._consumer.acknowledge_interval(first, last))

    async def close(self) -> None:
        """As ``AckConsumer.close``."""
        await asyncio.shield(asyncio.to_thread(self._consumer.close))
