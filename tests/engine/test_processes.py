"""Several processes of one database: what one of them makes, sends or holds is every other's at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest
from support import Db, column, one, wait_until

from howdah.engine import Connection
from howdah.engine.errors import NoSuchQueue

BEGIN = "from howdah.engine import connect\nwith connect() as connection:\n    "
CREATE = BEGIN + "connection.admin.create_queue('orders')"
RECEIVE = BEGIN + "with connection.session() as s, s.transaction(): print(s.receive('orders')[0].body)"
CONSUMER = """
import os, psycopg, time
with psycopg.connect(os.environ["HOWDAH_DSN"], autocommit=True) as db:
    print(db.execute("select howdah.open_consumer('orders', own_session => true)").fetchone()[0], flush=True)
    time.sleep(600)
"""


def run(dsn: str, program: str) -> str:
    """What another process prints, which uses the same database and ends."""
    environment = os.environ | {"HOWDAH_DSN": dsn}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@contextmanager
def consuming(dsn: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A process with an open consumer of orders, which ends with the process's session, and the consumer's number."""
    environment = os.environ | {"HOWDAH_DSN": dsn}
    command = [sys.executable, "-c", CONSUMER]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process, int(process.stdout.readline())
        finally:
            process.kill()


@pytest.mark.behaviour("IMQ-105")
@pytest.mark.behaviour("IMQ-106")
def test_a_queue_that_one_process_made_is_sent_to_by_another_and_received_from_by_a_third(
    dsn: str, connection: Connection
) -> None:
    run(dsn, CREATE)
    connection.send("orders", "from the second")  # connected before the queue was made
    assert run(dsn, RECEIVE) == "from the second"


@pytest.mark.behaviour("IMQ-110")
def test_a_consumer_whose_process_was_killed_is_gone_for_all_others(dsn: str, db: Db) -> None:
    one(db, """select howdah.create_queue('orders', '{"delivery_policy": "single"}')""")
    listed = "select consumer from howdah.list_consumers('orders')"
    with consuming(dsn) as (process, number):
        assert column(db, listed) == [number]
        process.send_signal(signal.SIGKILL)

    def opened() -> int | None:
        try:
            return int(one(db, "select howdah.open_consumer('orders')"))
        except psycopg.Error as error:
            if error.sqlstate != "HD033":  # its place is taken as long as its session lives
                raise
            return None

    wait_until(opened)
    (next_one,) = column(db, listed)
    assert next_one > number


@pytest.mark.behaviour("IMQ-107")
def test_a_consumer_of_one_process_stands_behind_that_of_another_until_it_dies(dsn: str, db: Db) -> None:
    one(db, """select howdah.create_queue('orders', '{"delivery_policy": "failover"}')""")
    with consuming(dsn) as (process, primary):
        one(db, "select howdah.send('orders', 'x')")
        second = one(db, "select howdah.open_consumer('orders')")
        assert column(db, "select consumer from howdah.list_consumers('orders')") == [primary, second]
        receive = f"select body from howdah.receive('orders', consumer => {second})"
        assert column(db, receive) == []
        process.send_signal(signal.SIGKILL)
    wait_until(lambda: column(db, receive) == ["x"])


@pytest.mark.behaviour("IMQ-109")
def test_a_queue_that_another_process_drops_or_makes_anew_is_known_as_such_at_once(
    dsn: str, connection: Connection
) -> None:
    run(dsn, CREATE)
    with connection.session() as session:
        for body in ("one", "two"):
            with session.transaction():
                session.send("orders", body)
            run(dsn, BEGIN + "connection.admin.drop_queue('orders', force=True)")
            with pytest.raises(NoSuchQueue), session.transaction():
                session.send("orders", "to nobody")
            run(dsn, CREATE)
        with session.transaction():
            session.send("orders", "three")
    assert run(dsn, RECEIVE) == "three"
