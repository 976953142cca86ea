"""A large body is written once and follows its message wherever that moves."""

from __future__ import annotations

import pytest
from large_bodies_support import BYTES, TEXT, apart, send
from policy_support import Create
from support import SYSTEM, Clock, Connect, Db, column, deliver_and_fail, fail, measured, one, receive


@pytest.fixture(autouse=True)
def queue(create: Create) -> None:
    create(max_failed_deliveries=2)


def test_a_large_body_is_written_once_however_often_its_message_moves(db: Db) -> None:
    """The least of three counts for each step.

    A checkpoint in between makes the next change of every page write it whole.

    Leases lie in parked instead of leases where the server was slow for a moment: then their queue's parked messages
    are looked for first.
    """
    lease = "(select max(l.lease) from howdah.list_leases('q') l)"
    steps = [
        "select howdah.lease('q')",
        f"select howdah.extend('q', {lease})",
        f"select howdah.release('q', {lease})",
        "select howdah.lease('q')",
        f"select howdah.nack('q', {lease}, null, delay => interval '1 hour')",
        "select howdah.retry('q', array[%(id)s])",
        "select howdah.park_messages('q', array[%(id)s])",
        "select howdah.retry('q', array[%(id)s])",
        "select howdah.record_failure('q', %(id)s, reject => true)",
        f"select howdah.replay('{SYSTEM}', array[%(id)s])",
        f"select howdah.move_messages('q', array[%(id)s], '{SYSTEM}')",
    ]
    counts: dict[int, list[int]] = {step: [] for step in range(len(steps))}
    for _ in range(3):
        number = send(db, BYTES)
        for step, query in enumerate(steps):
            counts[step].append(measured(db, query, {"id": number})["WAL Bytes"])
        (message,) = receive(db, SYSTEM)
        assert (message.message_id, message.bytes) == (number, BYTES)
        assert apart(db) == 0
    assert {steps[step]: min(seen) for step, seen in counts.items() if min(seen) > 25_000} == {}


def test_a_body_survives_the_consumer_that_dies_with_it(db: Db, connect: Connect) -> None:
    send(db)
    doomed = connect()
    doomed.execute("begin")
    assert [message.body for message in receive(doomed)] == [TEXT]
    one(db, "select pg_terminate_backend(%s, 10000)", (doomed.info.backend_pid,))
    assert [message.body for message in receive(db)] == [TEXT]


def test_a_message_is_returned_and_redelivered_with_its_body(db: Db, clock: Clock) -> None:
    send(db)
    assert deliver_and_fail(db) == (1, "returned")
    lease, number = db.execute("select lease, message_id from howdah.lease('q', 1, interval '1 s')").fetchone() or (
        0,
        0,
    )
    clock.advance(2)
    assert column(db, "select body from howdah.receive(%s)", (SYSTEM,)) == []
    assert receive(db) == [], "its second failure moved it"
    assert column(db, "select body from howdah.receive(%s)", (SYSTEM,)) == [TEXT]
    assert apart(db) == 0
    number = send(db)
    lease = one(db, "select lease from howdah.lease('q')")
    assert column(db, "select body from howdah.redeliver('q', %s, %s)", ([lease], [number])) == [TEXT]


def test_copies_for_administrators_have_the_body(db: Db, create: Create) -> None:
    create("log")
    one(db, """select howdah.alter_queue('q', '{"log_queue": "log", "log_table": true}')""")
    number = send(db)
    assert fail(db, number, reject=True)[2] == "moved"
    assert apart(db) == 2
    assert column(db, "select body_text from howdah.audit_poison_log") == [TEXT]
    assert [message.body for message in (*receive(db, "log"), *receive(db, SYSTEM))] == [TEXT, TEXT]
    assert apart(db) == 0


@pytest.mark.parametrize("discard", [False, True])
def test_an_edited_copy_has_the_body_unless_another_is_given(db: Db, discard: bool) -> None:
    for given in (None, "edited", "e" * 3000):
        number = send(db)
        fail(db, number, reject=True)
        one(db, f"select howdah.replay_edited('{SYSTEM}', %s, body => %s, discard => %s)", (number, given, discard))
        assert apart(db) == (not discard) + (given != "edited")
        assert [message.body for message in receive(db)] == [given or TEXT]
        assert [message.body for message in receive(db, SYSTEM)] == ([] if discard else [TEXT])
