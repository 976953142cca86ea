"""What a killed consumer had in hand counts and comes again, and what lay behind it is not blamed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
from ack_support import consumed
from ahead_support import ids, send, take, vanish
from support import Clock, Db, column, one

from howdah.engine import AckMode, AckSession, Connection, connect

KILLED = """
import os, signal
from howdah.engine import Prefetch, connect
connection = connect(prefetch=Prefetch(optimize_acknowledge=True, optimize_timeout=3600))
consumer = connection.jms_session().consumer("orders", prefetch=20)
for _ in range(15):
    assert consumer.receive(5)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.behaviour("AMQ-119")
@pytest.mark.behaviour("IMQ-128")
def test_what_a_killed_consumer_had_not_acknowledged_comes_again_to_another_as_redelivered(
    dsn: str, connection: Connection, orders: str, clock: Clock
) -> None:
    sent = send(connection, orders, 20)
    killed = subprocess.run([sys.executable, "-c", KILLED], env=os.environ | {"HOWDAH_DSN": dsn}, check=False)
    assert killed.returncode == -signal.SIGKILL
    with connection.jms_session() as session:
        consumer = session.consumer(orders, prefetch=20)
        clock.advance(59)
        assert consumer.receive(0) is None
        clock.advance(2)
        again = take(consumer, 7)
        assert ids(again) == sent[13:], "13 of the 15 were acknowledged, at 65 percent"
        assert [message.redelivered for message in again[:2]] == [True, True]


KILLED_BEFORE_ACKNOWLEDGING = """
import os, signal
from howdah.engine import AckMode, connect
consumer = connect().jms_session(mode=AckMode.CLIENT).consumer("orders", prefetch=3)
for _ in range(2):
    assert consumer.receive(5).delivery_count == 1
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.behaviour("AMQ-118")
def test_a_consumer_in_client_mode_killed_before_it_acknowledges_counts_for_every_other(
    dsn: str, connection: Connection, orders: str, clock: Clock, db: Db
) -> None:
    sent = send(connection, orders, 2)
    command = [sys.executable, "-c", KILLED_BEFORE_ACKNOWLEDGING]
    killed = subprocess.run(command, env=os.environ | {"HOWDAH_DSN": dsn}, check=False)
    assert killed.returncode == -signal.SIGKILL
    clock.advance(61)
    with connection.jms_session(mode=AckMode.CLIENT) as session:
        again = take(session.consumer(orders), 2)
        assert [(m.message_id, m.redelivered, m.delivery_count) for m in again] == [(n, True, 2) for n in sent]
        again[1].acknowledge()
    assert consumed(db) == sent


KILLED_BEFORE_COMMIT = """
import os, signal
from howdah.engine import connect
session = connect().jms_session(transacted=True)
consumer = session.consumer("orders", prefetch=3)
for _ in range(2):
    assert consumer.receive(5).delivery_count == 1
session.send("orders", "never")
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.behaviour("AMQ-117")
def test_a_transacted_consumer_killed_before_its_commit_counts_for_every_other_of_an_ordinary_queue(
    dsn: str, connection: Connection, orders: str, clock: Clock, db: Db
) -> None:
    assert one(db, "select howdah.queue_options('orders') ->> 'backout_count'") == "recorded"
    sent = send(connection, orders, 3)
    command = [sys.executable, "-c", KILLED_BEFORE_COMMIT]
    killed = subprocess.run(command, env=os.environ | {"HOWDAH_DSN": dsn}, check=False)
    assert killed.returncode == -signal.SIGKILL
    clock.advance(61)
    with connect(dsn) as elsewhere, elsewhere.jms_session(transacted=True) as session:
        again = take(session.consumer(orders), 3)
        assert [(m.message_id, m.redelivered, m.delivery_count) for m in again[:2]] == [(n, True, 2) for n in sent[:2]]
        session.commit()
    assert consumed(db) == sent
    assert sorted(column(db, "select message from howdah.incidents('orders')"))[:2] == sent[:2]


@pytest.mark.slow
def test_a_message_that_kills_its_consumers_reaches_its_limit_and_what_lay_behind_it_does_not(
    dsn: str, connection: Connection, clock: Clock, db: Db
) -> None:
    connection.admin.create_queue("few", max_failed_deliveries=3)
    sent = send(connection, "few", 10)
    for _ in range(3):
        vanish(dsn, lambda session: take(session.consumer("few", prefetch=100), 1), transacted=True)
        clock.advance(61)
    with connection.jms_session(transacted=True) as session:
        rest = take(session.consumer("few"), 9)
        assert ids(rest) == sent[1:]
        assert [(m.redelivered, m.delivery_count) for m in rest] == [(True, 4)] * 9
        session.commit()
    assert column(db, "select message_id from howdah.audit_messages where state = 'dead'") == sent[:1]


@pytest.mark.first_case
@pytest.mark.parametrize(("mode", "dead"), [(AckMode.AUTO, []), (AckMode.CLIENT, [0, 1, 2])])
def test_what_a_dead_session_had_in_hand_counts(
    dsn: str, connection: Connection, clock: Clock, db: Db, mode: AckMode, dead: list[int]
) -> None:
    connection.admin.create_queue("few", max_failed_deliveries=1)

    def use(session: AckSession) -> None:
        consumer = session.consumer("few", prefetch=4, optimize_acknowledge=False)
        for _ in range(2):
            taken = take(consumer, 3)  # so it is known to take three at a time
            taken[0].acknowledge()

    sent = send(connection, "few", 30)
    vanish(dsn, use, mode=mode)
    clock.advance(61)
    with connection.jms_session() as session:
        rest = take(session.consumer("few"), 24 - len(dead))
        assert ids(rest) == [sent[n] for n in range(6, 30) if n - 6 not in dead]
