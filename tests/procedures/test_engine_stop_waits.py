"""A stop of the engine waits for open transactions and leases, until its timeout or a resume."""

from __future__ import annotations

import pytest
from stopped_engine_support import STATE, STOP, stopped
from support import Connect, Db, column, one, refused


@pytest.fixture
def queue(db: Db) -> str:
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.send('q', 'a'::text)")
    return "q"


@pytest.mark.parametrize("timeout", ["null", "interval '-1 second'", "interval '2 days'"])
def test_a_timeout_out_of_bounds_is_refused(db: Db, timeout: str) -> None:
    refused(db, "HD005", f"select howdah.stop_engine({timeout})")
    assert one(db, STATE) == "running"


def test_a_stop_waits_for_open_transactions_and_names_their_processes(db: Db, queue: str, connect: Connect) -> None:
    worker, reader = connect(), connect()
    worker.autocommit = reader.autocommit = False
    one(worker, "select howdah.send('q', 'x'::text)")
    reader.execute("set transaction isolation level repeatable read")
    one(reader, "select 1")
    pids = {worker.info.backend_pid, reader.info.backend_pid}
    assert stopped(db, 0.1) == "quiescing"
    row = db.execute(b"select state, transactions, pids from howdah.stop_engine(interval '0')").fetchone()
    assert row is not None
    assert (row[0], row[1], set(row[2])) == ("quiescing", 2, pids)
    worker.commit()
    assert one(db, "select pids from howdah.stop_engine(interval '0.1 seconds')") == [reader.info.backend_pid]
    one(reader, "select howdah.send('q', 'it still sees the engine running'::text)")
    reader.commit()
    assert one(db, STOP % 10) == "stopped"
    one(db, "select howdah.resume_engine()")
    assert len(column(db, "select body from howdah.receive('q', 9)")) == 3


def test_a_stop_waits_for_a_prepared_transaction(db: Db, queue: str, connect: Connect) -> None:
    worker = connect()
    worker.autocommit = False
    worker.execute("select howdah.send('q', 'x'::text, notify => false)")
    worker.execute("prepare transaction 'howdah:stopping'")
    try:
        assert stopped(db, 0.1) == "quiescing"
        assert db.execute(b"select transactions, pids from howdah.engine_state()").fetchone() == (1, [])
    finally:
        db.execute("commit prepared 'howdah:stopping'")
    assert one(db, STOP % 10) == "stopped"


@pytest.mark.first_case
@pytest.mark.parametrize("kind", ["ready", "parked", "subscription"])
def test_a_stop_waits_for_leases(db: Db, queue: str, kind: str) -> None:
    one(db, "select howdah.create_topic('t')")
    one(db, "select howdah.subscribe('t', 's')")
    one(db, "select howdah.send('t', 'x'::text)")
    one(db, "select howdah.create_queue('n')")
    one(db, "select howdah.send('n', 'x'::text, delivery_mode => 'non-persistent')")
    name = {"ready": "q", "parked": "n", "subscription": "t::s"}[kind]
    lease = one(db, "select lease from howdah.lease(%s)", (name,))
    assert stopped(db, 0.1) == "quiescing"
    assert db.execute(b"select transactions, leases from howdah.engine_state()").fetchone() == (0, 1)
    one(db, "select howdah.ack(%s, %s)", (name, lease))
    assert one(db, STOP % 10) == "stopped"


def test_a_stop_does_not_wait_for_sessions_that_do_nothing_with_it(db: Db, queue: str, connect: Connect) -> None:
    idle = connect()
    idle.autocommit = False
    one(idle, "select 1")
    assert stopped(db, 10) == "stopped"
    refused(idle, "HD040", "select howdah.send('q', 'x'::text)")


def test_a_stop_begun_in_one_transaction_only_quiesces(db: Db) -> None:
    with db.transaction():
        assert [one(db, STOP % 1) for _ in range(2)] == ["quiescing", "quiescing"]
    assert one(db, STATE) == "quiesced"
    assert one(db, STOP % 1) == "stopped"


def test_a_resume_overtakes_a_stop_that_still_waits(db: Db, queue: str, connect: Connect) -> None:
    worker, other = connect(), connect()
    worker.autocommit = False
    one(worker, "select howdah.receive('q')")
    assert stopped(db, 0.1) == "quiescing"
    one(other, "select howdah.resume_engine()")
    worker.rollback()
    assert one(db, STATE) == "running"
    assert one(db, STOP % 0) == "quiescing", "it begins anew"


def test_the_commit_of_a_stop_is_synchronous_whatever_the_session_says(db: Db) -> None:
    db.execute("set synchronous_commit = off")
    one(db, STOP % 0)
    with db.transaction():
        one(db, STOP % 10)
        assert one(db, "show synchronous_commit") == "on"
    assert one(db, "show synchronous_commit") == "off"
