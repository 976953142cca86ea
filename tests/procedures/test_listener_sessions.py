"""A listener gives messages to no more sessions than it may have."""

import pytest
from listeners_support import KINDS, create, send
from psycopg.types.json import Jsonb
from support import Connect, Db, one, receive


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")


@pytest.mark.behaviour("WAS-36")
@KINDS
@pytest.mark.first_case
def test_ten_transactions_receive_at_once_and_the_eleventh_waits(db: Db, connect: Connect, kind: str) -> None:
    create(db, kind=kind)
    sent = send(db, *map(str, range(11)))
    sessions = [connect() for _ in range(11)]
    for session in sessions:
        session.autocommit = False
    taken = [[m.message_id for m in receive(session, "l", verb="receive_as")] for session in sessions]
    assert taken == [[number] for number in sent[:10]] + [[]]
    sessions[10].rollback()
    assert receive(sessions[10], "l", verb="receive_as") == []
    sessions[4].commit()
    assert [m.message_id for m in receive(sessions[10], "l", verb="receive_as")] == [sent[10]]


def test_a_transaction_that_receives_twice_is_one_session(db: Db, connect: Connect) -> None:
    create(db, max_sessions=1)
    sent = send(db, "a", "b", "c")
    with db.transaction():
        assert [receive(db, "l", verb="receive_as")[0].message_id for _ in range(2)] == sent[:2]
        assert receive(connect(), "l", verb="receive_as") == []
    assert receive(connect(), "l", verb="receive_as")[0].message_id == sent[2]


def test_a_session_that_dies_gives_its_place_up(db: Db, connect: Connect) -> None:
    create(db, max_sessions=1)
    send(db, "a")
    dying = connect()
    dying.autocommit = False
    assert receive(dying, "l", verb="receive_as")
    assert receive(db, "l", verb="receive_as") == []
    one(db, "select pg_terminate_backend(%s, 5000)", (dying.info.backend_pid,))
    assert receive(db, "l", verb="receive_as")


def test_fewer_sessions_hold_for_the_next_receive(db: Db, connect: Connect) -> None:
    create(db, max_sessions=3)
    send(db, *"abcd")
    busy = [connect() for _ in range(2)]
    for session in busy:
        session.autocommit = False
        assert receive(session, "l", verb="receive_as")
    one(db, "select howdah.alter_listener('l', %s)", (Jsonb({"max_sessions": 1}),))
    for session in busy:
        session.commit()
    with db.transaction():
        assert receive(db, "l", verb="receive_as")
        assert receive(busy[0], "l", verb="receive_as") == []


@pytest.mark.parametrize("number", [1, 2147483646])
def test_a_listeners_session_is_no_lock_of_another_kind(db: Db, connect: Connect, number: int) -> None:
    """Such as a lane's, whose number may be the same; and any number of a listener has its locks."""
    db.execute("select setval(pg_get_serial_sequence('howdah.listeners', 'id'), %s)", (number,))
    create(db, max_sessions=1)
    send(db, "a", "b")
    other = connect()
    with other.transaction():
        for kind in ("subscription", "lane", "cursor", "failure", "turn"):
            other.execute("select pg_advisory_xact_lock(howdah._lock_key(%s, %s))", (kind, f"{number + 1}:0"))
        assert len(receive(db, "l", verb="receive_as")) == 1
