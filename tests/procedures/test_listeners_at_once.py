"""A listener counts the failures and successes of all its sessions, whichever commits first."""

import threading

import pytest
from listeners_support import KINDS, create, fail_next, record, send, shown, state
from support import SYSTEM, Connect, Db, one, receive


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")


@pytest.mark.behaviour("WAS-37")
@KINDS
def test_failures_of_different_messages_in_different_sessions_add_up(db: Db, connect: Connect, kind: str) -> None:
    create(db, sequential_failures=3, kind=kind)
    sessions = [connect() for _ in range(3)]
    send(db, *"abc")
    taken = []
    for session in sessions:
        session.autocommit = False
        taken.append(receive(session, "l", verb="receive_as")[0].message_id)
    for session, message, expected in zip(
        sessions, taken, [(1, "running"), (2, "running"), (3, "stopped")], strict=True
    ):
        session.rollback()
        record(session, message)
        session.commit()
        assert state(db) == expected


def test_failures_recorded_at_once_are_all_counted(db: Db, connect: Connect) -> None:
    create(db, sequential_failures=50)
    sent = send(db, *map(str, range(4)))

    def fail_often(session: Db) -> None:
        for _ in range(5):
            record(session, *sent)

    threads = [threading.Thread(target=fail_often, args=(connect(),)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert state(db) == (40, "running")


@pytest.mark.behaviour("WAS-38")
@KINDS
@pytest.mark.first_case
def test_what_is_in_hand_when_it_stops_is_finished(db: Db, connect: Connect, kind: str) -> None:
    """Five sessions, ten poison messages, 3 in a row, a threshold of 5: stopped at the third, none moved."""
    create(db, sequential_failures=3, max_sessions=5, kind=kind)
    send(db, *["poison"] * 10)
    sessions = [connect() for _ in range(5)]
    taken = []
    for session in sessions:
        session.autocommit = False
        taken.append(receive(session, "l", verb="receive_as")[0].message_id)
    calls = 5
    for at, (session, message) in enumerate(zip(sessions, taken, strict=True)):
        session.rollback()
        record(session, message)
        session.commit()
        assert state(db) == (at + 1, "running" if at < 2 else "stopped")
        calls += len(receive(session, "l", verb="receive_as"))
        session.rollback()
    assert calls == 7
    assert shown(db, "stopped_message_id") == (taken[2],)
    assert receive(db, SYSTEM, 9, "browse") == []
    assert len(receive(db, n=99, verb="browse")) == 10


def test_a_success_in_hand_does_not_start_a_stopped_listener(db: Db, connect: Connect) -> None:
    create(db)
    _, second = send(db, "good", "poison")
    session = connect()
    with session.transaction():
        assert receive(session, "l", verb="receive_as")
        assert fail_next(db) == (second, 1)
        session.execute("select howdah.handled_as('l')")
    assert state(db) == (1, "stopped")
    assert [m.message_id for m in receive(db, n=9, verb="browse")] == [second]


def test_a_healthy_listener_is_neither_written_nor_locked_by_successes(db: Db, connect: Connect) -> None:
    create(db)
    send(db, "a")
    version = "select ctid::text || ' ' || xmin from howdah.listeners"
    before = one(db, version)
    with db.transaction():
        assert receive(db, "l", verb="receive_as")
        db.execute("select howdah.handled_as('l')")
        connect().execute("select from howdah.listeners for update nowait")
    assert one(db, version) == before


def test_a_success_keeps_no_failure_waiting_and_wipes_only_those_before_it(db: Db, connect: Connect) -> None:
    create(db, sequential_failures=9)
    (sent,) = send(db, "a")
    record(db, sent)
    record(db, sent)
    other = connect()
    other.execute("set lock_timeout = '20s'")
    with db.transaction():
        db.execute("select howdah.handled_as('l')")
        assert state(db) == (0, "running")
        record(other, sent)
        assert state(other) == (3, "running")
    assert state(db) == (1, "running")
    record(db, sent)
    assert state(db) == (2, "running")
    assert one(db, "select count(*) from howdah.listener_marks") == 0


def test_of_successes_at_once_the_last_failure_seen_counts(db: Db, connect: Connect) -> None:
    create(db, sequential_failures=9)
    (sent,) = send(db, "a")
    early, late = connect(), connect()
    record(db, sent)
    with early.transaction():
        early.execute("select howdah.handled_as('l')")
        record(db, sent)
        record(db, sent)
        with late.transaction():
            late.execute("select howdah.handled_as('l')")
        assert state(db) == (0, "running")
        record(db, sent)
    assert state(db) == (1, "running")
    for session in (early, late, db):
        session.execute("select howdah.handled_as('l')")
    assert state(db) == (0, "running")
    assert one(db, "select count(*) from howdah.listener_marks where total_failures = 4") == 1
