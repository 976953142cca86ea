"""Large bodies lie apart from their messages: they come back exactly, are written once, and end with their message."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from policy_support import Create
from support import SYSTEM, Clock, Connect, Db, column, deliver_and_fail, fail, measured, one, receive, refused

BYTES = random.Random(7).randbytes(50_000)
TEXT = "ü" * 5_000
LONGEST_IN_THE_ROW = 1_900


@pytest.fixture(autouse=True)
def queue(create: Create) -> None:
    create(max_failed_deliveries=2)


def send(db: Db, body: str | bytes = TEXT, **more: Any) -> int:
    extra = "".join(f", {name} => %s" for name in more)
    number: int = one(db, f"select howdah.send('q', %s{extra})", (body, *more.values()))
    return number


def apart(db: Db) -> int:
    """How many bodies lie apart; each of a message that is there, and whose row has none."""
    owners = column(
        db,
        "select m.message_id from (select message_id, body from howdah.msgs"
        " union all select message_id, body from howdah.leased"
        " union all select message_id, body from howdah.parked) m where m.body is null order by 1",
    )
    assert column(db, "select message_id from howdah.bodies order by 1") == owners
    return len(owners)


def rolled_back(db: Db, query: str, params: Any = None) -> list[Any]:
    with db.transaction(force_rollback=True):
        return column(db, query, params)


RECEIVES = {
    "receive": "select coalesce(convert_to(body, 'UTF8'), bytes) from howdah.receive('q')",
    "a batch": "select coalesce(convert_to(body, 'UTF8'), bytes) from howdah.receive('q', 100)",
    "by selector": (
        "select coalesce(convert_to(body, 'UTF8'), bytes) from howdah.receive('q', selector => 'JMSPriority < 10')"
    ),
    "held": "select coalesce(convert_to(body, 'UTF8'), bytes) from howdah.receive_locked('q')",
    "leased": "select coalesce(convert_to(body, 'UTF8'), bytes) from howdah.lease('q')",
    "leased ahead": "select coalesce(convert_to(body, 'UTF8'), bytes) from howdah.lease_ahead('q')",
    "by number": "select coalesce(convert_to(body, 'UTF8'), bytes) from howdah.receive_message('q', %(id)s)",
    "by correlation id": "select coalesce(convert_to(body, 'UTF8'), bytes) from howdah.receive_correlated('q', 'c')",
    "browsed": "select coalesce(convert_to(body, 'UTF8'), bytes) from howdah.browse('q')",
    "browsed by selector": (
        "select coalesce(convert_to(body, 'UTF8'), bytes) from howdah.browse('q', selector => 'JMSPriority < 10')"
    ),
    "browsed by number": "select coalesce(convert_to(body, 'UTF8'), bytes) from howdah.browse('q', only_id => %(id)s)",
    "shown to operators": (
        "select coalesce(convert_to((message).body, 'UTF8'), (message).bytes) from howdah.poison_message(%(id)s)"
    ),
    "seen as ActiveMQ's": "select msg from howdah.activemq_msgs where id = %(id)s",
}


@pytest.mark.parametrize("way", RECEIVES)
def test_a_large_body_comes_back_as_it_was_sent(db: Db, way: str) -> None:
    for sent in (TEXT, BYTES):
        number = send(db, sent, correlation_id="c")
        assert apart(db) == 1
        exact = sent.encode() if isinstance(sent, str) else sent
        assert list(map(bytes, rolled_back(db, RECEIVES[way], {"id": number}))) == [exact]
        assert apart(db) == 1, "a rollback leaves it where it was"
        one(db, "select howdah.purge_queue('q')")


SENDS = {
    "text": ("select howdah.send('q', %s::text)", False),
    "json": ("select howdah.send('q', to_jsonb(%s::text))", False),
    "bytes": ("select howdah.send('q', convert_to(%s, 'UTF8'))", False),
    "with headers": ("""select howdah.send('q', %s, headers => '{"a": 1}')""", False),
    "with a priority": ("select howdah.send('q', %s, priority => 9)", False),
    "with a deduplication key": ("select howdah.send('q', %s, deduplication_key => 'k')", False),
    "with a delay": ("select howdah.send('q', %s, delay => interval '1 hour')", True),
    "to several": ("select howdah.send('q,q', %s)", False),
    "in a batch": ("select howdah.send_batch('q', array['small', %s, 'small'])", False),
    "in a delayed batch": ("select howdah.send_batch('q', array['small', %s], delay => interval '1 hour')", True),
    "in a batch with keys": (
        "select howdah.send_batch('q', array['s', %s], deduplication_keys => array['a', 'b'])",
        False,
    ),
}


@pytest.mark.parametrize("way", SENDS)
def test_every_way_of_sending_lays_a_large_body_apart(db: Db, clock: Clock, way: str) -> None:
    query, delayed = SENDS[way]
    with db.transaction(force_rollback=True):
        db.execute(query.encode(), (TEXT,)).fetchall()
    assert apart(db) == 0, "a rollback takes it along"
    db.execute(query.encode(), (TEXT,)).fetchall()
    assert apart(db) >= 1
    if delayed:
        clock.advance(3601)
    got = db.execute("select coalesce(body, convert_from(bytes, 'UTF8')) from howdah.receive('q', 9)").fetchall()
    assert TEXT in {json.loads(body) if body.startswith('"') else body for (body,) in got}
    assert apart(db) == 0


def test_a_body_up_to_1900_bytes_lies_in_its_row(db: Db) -> None:
    send(db, b"x" * LONGEST_IN_THE_ROW)
    assert apart(db) == 0
    send(db, b"x" * (LONGEST_IN_THE_ROW + 1))
    one(
        db,
        "select howdah.send_batch('q', array[%s, %s]::bytea[])",
        (b"x" * LONGEST_IN_THE_ROW, b"x" * (LONGEST_IN_THE_ROW + 1)),
    )
    assert apart(db) == 2
    assert column(db, "select octet_length(bytes) from howdah.receive('q', 9)") == [1900, 1901, 1900, 1901]
    assert apart(db) == 0


def test_bodies_of_topics_and_of_nonpersistent_messages_stay_in_their_rows(db: Db) -> None:
    send(db, delivery_mode="non-persistent")
    one(db, "select howdah.create_topic('t')")
    one(db, "select howdah.subscribe('t', 's')")
    one(db, "select howdah.send('t', %s)", (TEXT,))
    assert apart(db) == 0
    assert [message.body for message in (*receive(db), *receive(db, "t::s"))] == [TEXT, TEXT]


def consume_locked(db: Db, numbers: list[int]) -> None:
    with db.transaction():
        held = receive(db, n=9, verb="receive_locked")
        assert {message.message_id for message in held} == set(numbers)
        columns = zip(*((m.message_id, m.priority, m.position) for m in held), strict=True)
        db.execute("select howdah.consume_locked('q', %s, %s, %s)", tuple(map(list, columns)))


def acknowledge(db: Db, numbers: list[int]) -> None:
    db.execute("select howdah.lease('q', 9)").fetchall()
    lease = one(db, "select lease_id from howdah.leases")
    assert one(db, "select howdah.ack('q', %s, %s)", (lease, numbers[:1])) == 1
    assert apart(db) == len(numbers) - 1
    assert one(db, "select howdah.ack('q', %s)", (lease,)) == len(numbers) - 1


def acknowledge_late(db: Db, numbers: list[int]) -> None:
    db.execute("select howdah.lease('q', 9)").fetchall()
    lease = one(db, "select lease_id from howdah.leases")
    one(db, "select howdah.extend('q', %s, interval '1 hour', %s)", (lease, numbers[:1]))
    assert one(db, "select howdah.ack('q', %s)", (lease,)) == len(numbers)


def evict(db: Db, numbers: list[int]) -> None:
    one(
        db,
        """select howdah.alter_queue('q', '{"limit_behaviour": "remove_oldest","""
        """ "message_limit": 1, "at_limit": "discard"}')""",
    )
    one(db, "select howdah.send('q', 'small')")
    assert [message.body for message in receive(db)] == ["small"]


def fail_and_discard(db: Db, numbers: list[int]) -> None:
    one(db, """select howdah.alter_queue('q', '{"at_limit": "discard"}')""")
    for number in numbers:
        assert fail(db, number, reject=True)[2] == "discarded"


ENDS = {
    "received one by one": lambda db, ids: [receive(db) for _ in ids],
    "received at once": lambda db, ids: receive(db, n=9),
    "held and consumed": consume_locked,
    "leased and acknowledged": acknowledge,
    "acknowledged from parked": acknowledge_late,
    "received by number": lambda db, ids: [one(db, "select howdah.receive_message('q', %s)", (i,)) for i in ids],
    "discarded": lambda db, ids: one(db, "select howdah.discard('q', %s)", (ids,)),
    "purged": lambda db, ids: one(db, "select howdah.purge_queue('q')"),
    "dropped": lambda db, ids: one(db, "select howdah.drop_queue('q', true)"),
    "evicted": evict,
    "disposed of": fail_and_discard,
}


@pytest.mark.parametrize("end", ENDS)
def test_a_large_body_ends_with_its_message(db: Db, end: str) -> None:
    numbers = [send(db) for _ in range(3)]
    assert apart(db) == 3
    with db.transaction(force_rollback=True):
        ENDS[end](db, numbers)
        assert apart(db) == 0
    assert apart(db) == 3, "a rollback gives it back"
    ENDS[end](db, numbers)
    assert apart(db) == 0


def test_an_attempt_that_succeeds_takes_the_body(db: Db) -> None:
    one(db, """select howdah.alter_queue('q', '{"backout_count": "hardened"}')""")
    send(db)
    attempt = one(db, "select attempt from howdah.begin_attempts('q')")
    assert column(db, "select body from howdah.receive_attempt('q', %s)", (attempt,)) == [TEXT]
    assert apart(db) == 0


def test_an_expired_message_takes_its_body_along_however_it_is_met(db: Db, clock: Clock) -> None:
    for reclaim in (False, True):
        send(db, time_to_live="1 s")
        send(db, time_to_live="1 s", delay="0.5 s")
        clock.advance(2)
        if reclaim:
            assert one(db, "select howdah.maintain_expired()") == 2
        assert receive(db, n=9) == []
        assert apart(db) == 0


def test_a_cancelled_delayed_message_takes_its_body_along(db: Db) -> None:
    number = send(db, delay="1 hour")
    assert column(db, "select bytes from howdah.list_delayed('q')") == [len(TEXT.encode())]
    assert one(db, "select howdah.cancel_delayed('q', %s)", ([number],)) == 1
    assert apart(db) == 0


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


def test_limits_and_auditors_count_the_bytes_of_large_bodies(db: Db) -> None:
    one(db, """select howdah.alter_queue('q', '{"byte_limit": 120000, "limit_behaviour": "reject"}')""")
    for _ in range(2):
        send(db, BYTES)
    assert column(db, "select body_bytes from howdah.audit_messages") == [50_000, 50_000]
    refused(db, "HD018", "select howdah.send('q', %s)", (BYTES,))
    receive(db)
    send(db, BYTES)


def test_a_message_too_large_for_its_queue_leaves_no_body(db: Db) -> None:
    one(db, """select howdah.alter_queue('q', '{"max_message_bytes": 3000}')""")
    refused(db, "HD007", "select howdah.send('q', %s)", (TEXT,))
    refused(db, "HD001", "select howdah.send('none', %s)", (TEXT,))
    assert apart(db) == 0


def test_producers_and_consumers_cannot_read_bodies_themselves(connect: Connect) -> None:
    for role in ("howdah_producer", "howdah_consumer", "howdah_admin", "howdah_auditor"):
        refused(connect(role), "42501", "select count(*) from howdah.bodies")
