"""JMS sessions with acknowledge modes: consumers that receive ahead, and rules for when a message is consumed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Self, TypeVar, Unpack

import psycopg

from .. import calls
from ..calls import Call, topics
from ..calls.bodies import Body
from ..calls.options import SendManyOptions, SendOptions
from ..errors import ConnectionLost, HowdahError, IllegalState, TransactionRolledBack, is_lost
from ..sessions.dispatch import RENEW_TIMEOUT, Dispatcher
from ..sessions.owner import Owner
from ..sessions.seat import Seat, is_subscription
from ..sessions.session import Session
from ..tracing.headers import readable
from ..tracing.points import sending
from . import lease_calls
from .consumer import AckConsumer
from .dispatch import AckListeners
from .holding import Delivery
from .keeper import Keeper
from .kept import KeptSession
from .modes import AckMode, AckType
from .prefetch import Prefetch

T = TypeVar("T")


class AckSession(KeptSession):
    """Made by ``Connection.jms_session``; its mode never changes. Any thread may close it.

    Its listeners are called one at a time. Unless it is transacted, consumers may receive in parallel, one thread each.

    Messages come under leases, which the connection renews while the session lives. If its process dies, they end, and
    what the session held comes again to others.
    """

    def __init__(
        self, owner: Owner, mode: AckMode, *, keeper: Keeper, prefetch: Prefetch, transaction: Session | None
    ) -> None:
        """transaction: if transacted, the session in which it sends and commits."""
        super().__init__(owner, mode, keeper)
        self._prefetch = prefetch
        self._transaction = transaction
        self._dispatcher: Dispatcher[AckConsumer] | None = None
        #: Subscriptions that end with the session.
        self._fleeting: list[str] = []

    # -- its parts ------------------------------------------------------------------------------------------------

    def consumer(
        self,
        destination: str,
        *,
        selector: str | None = None,
        prefetch: int | None = None,
        optimize_acknowledge: bool | None = None,
        exclusive: bool | None = None,
        priority: int | None = None,
    ) -> AckConsumer:
        """Return a consumer of a queue or subscription, with settings for how far it receives ahead.

        Arguments win over options behind the name (``orders?consumer.prefetchSize=100``), and those over the
        connection's.

        - selector: receive only messages for which it is true. The others stay.
        - exclusive: while it lives, no other consumer of the queue gets messages. Of several, the one with the highest
          priority does.

        Raises BadArgument, InvalidSelector, and SubscriptionInUse if an unshared subscription is somebody else's or has
        leased messages.
        """
        self._owner.levels.check(destination)
        prefetch = getattr(destination, "prefetch", None) if prefetch is None else prefetch
        kind = "durable_topic" if is_subscription(destination.partition("?")[0]) else "queue"
        if selector is not None:
            self.run(calls.scalar("check_selector", selector=("text", selector)))
        options = {"exclusive": exclusive, "priority": priority}
        return self._consumer(destination, kind, prefetch, optimize_acknowledge, selector, options)

    def subscriber(
        self,
        topic: str,
        *,
        selector: str | None = None,
        client_id: str | None = None,
        no_local: bool = False,
        prefetch: int | None = None,
        optimize_acknowledge: bool | None = None,
    ) -> AckConsumer:
        """Subscribe non-durably to a topic or wildcard, until the session ends. client_id: None: the connection's."""
        self.check_open()
        self._owner.levels.check(topic)
        self._owner.levels.check_client_id(client_id)
        name, _, options = topic.partition("?")
        client_id = (self._owner.client_id or "") if client_id is None else client_id
        wanted = topics.Subscription(name, None, client_id, selector, durable=False, no_local=no_local)
        self._fleeting.append(self.run(wanted.call()))
        return self._consumer(f"{self._fleeting[-1]}?{options}", "topic", prefetch, optimize_acknowledge)

    def _consumer(
        self,
        destination: str,
        kind: str,
        prefetch: int | None,
        optimize: bool | None,
        selector: str | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> AckConsumer:
        self.check_open()
        window = self._prefetch.window(
            destination, self.mode, kind=kind, prefetch=prefetch, optimize_acknowledge=optimize, **(options or {})
        )
        seat = Seat(self.run, window.queue, self.lease_duration, exclusive=window.exclusive, priority=window.priority)
        if seat.wanted:
            seat.take()
        consumer = AckConsumer(self, window, seat, selector)
        self._consumers.append(consumer)
        self.keeper.add(self)
        return consumer

    def send(self, queue: str, body: Body, **options: Unpack[SendOptions]) -> int:
        """Send one message and return its number. Options as in ``calls.send``. Transacted: sent with the commit."""
        self.check_open()
        with sending(queue, options) as carried:
            return self.run_in_transaction(calls.send(queue, body, **self._owner.levels.stamped(queue, carried)))

    def send_many(self, queue: str, bodies: Sequence[Body], **options: Unpack[SendManyOptions]) -> list[int]:
        """Send many messages in one statement and return their numbers in order. Options as in ``calls.send_many``."""
        self.check_open()
        with sending(queue, options, len(bodies)) as carried:
            wanted = self._owner.levels.stamped(queue, carried, len(bodies))
            return self.run_in_transaction(calls.send_many(queue, bodies, **wanted))

    def stamp(self, message: Delivery) -> None:
        """Give a message that is handed out the id of the session's transaction, if that is wanted."""
        if self._transaction is not None and self._owner.levels.stamps.consumer_txid:
            readable(message)["JMSXConsumerTXID"] = self._transaction.call(lease_calls.CURRENT_TRANSACTION)

    @property
    def transacted(self) -> bool:
        """Whether it has a transaction."""
        return self._transaction is not None

    @property
    def connection(self) -> Any:
        """The connection of a transacted session, for the application's statements in its transaction."""
        return self._own().connection

    def run_in_transaction(self, call: Call[T]) -> T:
        """Run a call in the session's transaction if it has one."""
        return self.run(call) if self._transaction is None else self._transaction.call(call)

    # -- acknowledging --------------------------------------------------------------------------------------------

    def acknowledge(self) -> None:
        """Acknowledge all that the session's consumers have delivered, in CLIENT and INDIVIDUAL; else do nothing.

        Raises LeaseLost if others may have some of it by now. Then nothing is acknowledged; call ``recover``.
        """
        with self.lock:
            self.check_open()
            if self.mode.by_client:
                self.acknowledger.consume(self.delivered)

    def acknowledge_message(self, message: Delivery) -> None:
        """What ``message.acknowledge`` does."""
        if self.mode is not AckMode.INDIVIDUAL:
            self.acknowledge()
            return
        with self.lock:
            self.check_open()
            if message.message_id in message.consumer.holding.delivered:
                self.acknowledger.consume([message], AckType.INDIVIDUAL)

    def recover(self) -> None:
        """Deliver again from the first unacknowledged message on. Delivered messages come again as redelivered.

        This session gets them, before anything else. Raises IllegalState if it is transacted.
        """
        with self.lock:
            self.check_open()
            if self.transacted:
                raise IllegalState("a transacted session is rolled back, not recovered")
            for consumer in self._consumers:
                consumer.flush()
            self.acknowledger.redeliver(self.delivered, "SessionRecovered", "the session recovered")

    # -- transaction ----------------------------------------------------------------------------------------------

    def _own(self) -> Session:
        self.check_open()
        if self._transaction is None:
            raise IllegalState("a session that is not transacted has no transaction")
        return self._transaction

    def commit(self) -> None:
        """Consume what was received, send what was sent, write what ``connection`` wrote: all or nothing.

        Raises TransactionRolledBack if the database refused. All is undone, and what was received comes again, counted
        as failed unless the error blames no message. Raises ConnectionLost if it is not known what became of it.
        """
        with self.lock:
            transaction, delivered = self._own(), self.delivered
            try:
                self._commit(transaction, delivered)
            except (HowdahError, psycopg.Error) as error:
                with suppress(HowdahError, psycopg.Error):
                    transaction.rollback()
                with suppress(HowdahError, psycopg.Error):
                    transaction.renew(RENEW_TIMEOUT)
                with suppress(HowdahError, psycopg.Error):
                    self.acknowledger.again(delivered, error)
                if isinstance(error, ConnectionError) or (isinstance(error, psycopg.Error) and is_lost(error)):
                    raise
                raise TransactionRolledBack(f"the transaction was rolled back: {error}") from error
            self.acknowledger.consumed(delivered)

    @staticmethod
    def _commit(transaction: Session, delivered: list[Delivery]) -> None:
        if delivered:
            transaction.call(lease_calls.acknowledge_many(delivered))
        transaction.commit()

    def rollback(self) -> None:
        """Undo what was sent and written. What was received comes again to this session, first, counted as failed."""
        with self.lock:
            transaction = self._own()
            try:
                transaction.rollback()
            except ConnectionLost:  # then the server rolls back
                transaction.renew(RENEW_TIMEOUT)
            finally:
                self.acknowledger.redeliver(self.delivered, "SessionRolledBack", "the session rolled back")

    # -- listeners, leases and its end ----------------------------------------------------------------------------

    def listen(self) -> None:
        """Note that a consumer got or lost its listener."""
        self.check_open()
        if self._dispatcher is not None:
            self.wake()
            self._dispatcher.changed()
        elif self.listening:
            listeners = AckListeners(self, lambda: self.listening)
            self._dispatcher = Dispatcher("howdah-ack-session", self, listeners)
            self._dispatcher.start()

    def close(self) -> None:
        """End the session: roll back a transaction and give messages held ahead back unharmed.

        What the client has not acknowledged stays unacknowledged.

        A listener's message in hand is finished first; waiting receives return None. A second call does nothing.
        """
        if self._dispatcher is None or self._dispatcher.end():
            self.finish()

    def finish(self) -> None:
        """The end of ``close``, once no listener runs any more."""
        with self.lock:
            if self.closed:
                return
            for consumer in list(self._consumers):
                with suppress(HowdahError, psycopg.Error):
                    consumer.flush()
            self.closed = True
            self._wake.set()
            self._owner.forget(self)
            # What cannot be done now happens when the leases run out.
            with suppress(HowdahError, psycopg.Error):
                if self._transaction is not None:
                    self._transaction.close()
            for consumer in self._consumers:
                with suppress(HowdahError, psycopg.Error):
                    self.acknowledger.end(consumer, "SessionClosed", "the session was closed before it acknowledged")
                with suppress(HowdahError, psycopg.Error):
                    consumer.seat.leave()
                consumer.holding.clear()
                consumer.closed = True
            for name in self._fleeting:
                with suppress(HowdahError, psycopg.Error):
                    self.run(topics.unsubscribe(name))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
