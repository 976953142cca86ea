"""Sessions of all modes do random things to one queue, against a model of what each of them may see."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field

import pytest
from support import Clock, Db, column, one
from thinned import thinned

from howdah.engine import AckConsumer, AckMode, AckSession, Connection, Delivery, Prefetch, connect
from howdah.engine.errors import LeaseLost, TransactionRolledBack

STEPS = 150
MESSAGES = 60


@dataclass
class Client:
    """A session with a connection of its own, its consumers, and what it was given and has not acknowledged."""

    connection: Connection
    session: AckSession
    consumers: list[AckConsumer]
    open: dict[int, Delivery] = field(default_factory=dict)


class Schedule:
    """Does the steps, and notes what was consumed for good, and what may come again."""

    def __init__(self, dsn: str, seed: int, clock: Clock) -> None:
        self._dsn = dsn
        self._dice = random.Random(seed)
        self._clock = clock
        self.clients: list[Client] = []
        #: Acknowledged, which happens once.
        self.consumed: set[int] = set()
        self.log: list[str] = []

    def open_one(self) -> None:
        dice = self._dice
        prefetch = Prefetch(optimize_acknowledge=dice.random() < 0.5, optimize_timeout=3600)
        connection = connect(self._dsn, prefetch=prefetch, max_size=4)
        mode = dice.choice(list(AckMode))
        session = connection.jms_session(transacted=mode == 0, mode=mode)
        consumers = [session.consumer("q", prefetch=dice.choice([1, 3, 10])) for _ in range(dice.choice([1, 2]))]
        self.clients.append(Client(connection, session, consumers))

    def step(self) -> None:
        dice = self._dice
        if len(self.clients) < 2:
            self.open_one()
            return
        client = dice.choice(self.clients)
        mode = client.session.mode
        verb = dice.choices(
            ["receive", "acknowledge", "back", "close", "vanish", "time", "beat", "close consumer"],
            [60, 14, 8, 2, 2, 2, 6, 2],
        )[0]
        self.log.append(f"{self.clients.index(client)} {mode.name} {verb}")
        if verb == "receive":
            self.receive(client, dice.choice(client.consumers))
        elif verb == "acknowledge":
            self.acknowledge(client)
        elif verb == "back":
            if mode is AckMode.SESSION_TRANSACTED:
                client.session.rollback()
            else:
                client.session.recover()
            client.open.clear()
        elif verb == "close":
            client.session.close()
            client.connection.close()
            self.clients.remove(client)
        elif verb == "vanish":
            client.connection.keeper.stop()
            client.connection.pool.close()
            self.clients.remove(client)
        elif verb == "close consumer" and len(client.consumers) > 1:
            client.consumers.pop().close()
        elif verb == "beat":
            client.connection.keeper.beat()
        elif verb == "time":
            self._clock.advance(dice.choice([30, 61]))

    def receive(self, client: Client, consumer: AckConsumer) -> None:
        message = consumer.receive(0)
        if message is None:
            return
        number = message.message_id
        assert message.redelivered == (message.delivery_count > 1)
        if client.session.mode not in (AckMode.AUTO, AckMode.DUPS_OK):
            # It may have lost its lease meanwhile, which only shows when it is acknowledged.
            client.open[number] = message
        elif consumer.window.batch == 1:
            self.consume([number])

    def consume(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            assert number not in self.consumed, "acknowledged twice"
            self.consumed.add(number)

    def acknowledge(self, client: Client) -> None:
        session, mode = client.session, client.session.mode
        if mode in (AckMode.AUTO, AckMode.DUPS_OK):
            return
        try:
            if mode is AckMode.INDIVIDUAL and client.open:
                message = self._dice.choice(list(client.open.values()))
                message.acknowledge()
                self.consume([message.message_id])
                del client.open[message.message_id]
                return
            if mode is AckMode.SESSION_TRANSACTED:
                session.commit()
            else:
                session.acknowledge()
        except (LeaseLost, TransactionRolledBack):
            if mode is not AckMode.SESSION_TRANSACTED:
                session.recover()
        else:
            self.consume(client.open)
        client.open.clear()

    def finish(self, dsn: str) -> None:
        """Close all that is left, and take what is left of the queue."""
        for client in self.clients:
            client.session.close()
            client.connection.close()
        self._clock.advance(3600)
        with connect(dsn) as connection, connection.jms_session() as session:
            consumer = session.consumer("q", prefetch=100)
            while (message := consumer.receive(0)) is not None:
                self.consume([message.message_id])


@pytest.mark.first_case
@pytest.mark.parametrize("seed", thinned(range(6), 3))
def test_every_message_is_consumed_once_whatever_the_sessions_do(dsn: str, db: Db, clock: Clock, seed: int) -> None:
    one(db, """select howdah.create_queue('q', '{"max_failed_deliveries": -1}')""")
    sent = one(db, "select howdah.send_batch('q', array(select n::text from generate_series(1, %s) n))", (MESSAGES,))
    schedule = Schedule(dsn, seed, clock)
    try:
        for _ in range(STEPS):
            schedule.step()
        schedule.finish(dsn)
    except BaseException:
        print("\n".join(schedule.log))
        raise
    consumed = column(db, "select i.id from howdah.journal j, unnest(j.message_ids) i(id) where j.event = 'consumed'")
    assert sorted(consumed) == sent, "each of them once"
    assert one(db, "select count(*) from howdah.list_leases('q')") == 0
    assert column(db, "select message_id from howdah.browse('q')") == []
