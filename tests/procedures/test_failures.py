"""record_failure, the poison policy, delays: what becomes of a message whose delivery fails."""

import threading
from datetime import timedelta
from uuid import uuid4

import pytest
from psycopg.types.json import Jsonb
from support import (
    SYSTEM,
    Clock,
    Connect,
    Db,
    all_refused,
    column,
    deliver_and_fail,
    fail,
    one,
    receive,
    wait_until_blocked,
)


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")


def send(db: Db, queue: str = "q", body: str = "x") -> int:
    number: int = one(db, "select howdah.send(%s, %s)", (queue, body))
    return number


@pytest.mark.behaviour("WAS-06")
def test_the_delivery_count_is_one_more_than_the_rejections(db: Db) -> None:
    send(db)
    assert [deliver_and_fail(db) for _ in range(2)] == [(1, "returned"), (2, "returned")]
    (third,) = receive(db)
    assert (third.delivery_count, third.redelivered) == (3, True)


@pytest.mark.behaviour("WAS-09")
@pytest.mark.behaviour("WAS-10")
@pytest.mark.behaviour("WAS-22")
@pytest.mark.parametrize("preset", [None, "howdah", "websphere"])
def test_by_default_a_message_is_delivered_five_times_and_then_lies_in_the_exception_destination(
    db: Db, preset: str | None
) -> None:
    if preset is not None:
        one(db, "select howdah.alter_queue('q', %s)", (Jsonb({"preset": preset}),))
    sent = send(db)
    trace = []
    while receive(db, verb="browse"):
        trace.append(deliver_and_fail(db))
        if trace[-1][1] == "returned":
            assert [m.message_id for m in receive(db, verb="browse")] == [sent]
    assert trace == [(1, "returned"), (2, "returned"), (3, "returned"), (4, "returned"), (5, "moved")]
    assert receive(db, n=9) == []
    (dead,) = receive(db, SYSTEM, 9, "browse")
    assert (dead.message_id, dead.origin_queue, dead.body) == (sent, "q", "x")
    assert column(db, "select attempt from howdah.incidents('q') order by 1") == [1, 2, 3, 4, 5]
    assert column(db, "select outcome from howdah.incidents('q') order by attempt") == ["returned"] * 4 + ["moved"]


@pytest.mark.behaviour("WAS-20")
def test_each_queue_counts_to_its_own_limit(db: Db) -> None:
    for limit in (2, 7):
        one(db, "select howdah.create_queue(%s, %s)", (f"q{limit}", Jsonb({"max_failed_deliveries": limit})))
        send(db, f"q{limit}")
        count = 0
        while receive(db, f"q{limit}", verb="browse"):
            deliver_and_fail(db, f"q{limit}")
            count += 1
        assert count == limit


@pytest.mark.behaviour("WAS-12")
@pytest.mark.behaviour("WAS-21")
def test_a_moved_message_keeps_everything_and_says_where_it_came_from(db: Db, clock: Clock) -> None:
    one(db, """select howdah.alter_queue('q', '{"max_failed_deliveries": 1}')""")
    one(
        db,
        "select howdah.send('q', %b, headers => '{\"a\": 1}', priority => 8, correlation_id => 'c', reply_to => 'r',"
        " message_type => 't', time_to_live => '1 hour')",
        (b"\0x",),
    )
    (before,) = receive(db, verb="browse")
    clock.advance(7)
    assert deliver_and_fail(db) == (1, "moved")
    (after,) = receive(db, SYSTEM)
    for name in [
        "message_id",
        "bytes",
        "headers",
        "priority",
        "correlation_id",
        "reply_to",
        "message_type",
        "sent_at",
        "content_type",
    ]:
        assert getattr(after, name) == getattr(before, name), name
    assert (after.origin_queue, after.dead_at, after.expires_at) == ("q", clock.now, None)
    assert after.dead_reason == "failed deliveries reached the limit"
    assert (after.delivery_count, after.redelivered, after.stage) == (1, False, 1)


def test_receive_itself_moves_a_message_at_its_limit_and_a_rollback_brings_it_back(db: Db, connect: Connect) -> None:
    one(db, """select howdah.alter_queue('q', '{"max_failed_deliveries": 1}')""")
    sent = send(db)
    consumer = connect()
    with consumer.transaction(force_rollback=True):
        assert len(receive(consumer)) == 1
        assert fail(db, sent)[1:] == (1, "held")
    with db.transaction(force_rollback=True):
        assert receive(db) == []
        assert len(receive(db, SYSTEM)) == 1
    assert [m.message_id for m in receive(db, verb="browse")] == [sent]
    following = send(db)
    assert [m.message_id for m in receive(db)] == [following]
    assert [m.message_id for m in receive(db, SYSTEM)] == [sent]
    assert column(db, "select event from howdah.audit_journal where message_id = %s order by at", (sent,)) == [
        "moved",
        "consumed",
    ]


def test_a_lowered_limit_holds_for_messages_that_have_failed_already(db: Db) -> None:
    send(db)
    assert [deliver_and_fail(db)[1] for _ in range(3)] == ["returned"] * 3
    one(db, """select howdah.alter_queue('q', '{"max_failed_deliveries": 2}')""")
    assert receive(db) == []
    assert len(receive(db, SYSTEM)) == 1


def test_a_limit_of_nought_is_none(db: Db) -> None:
    one(db, """select howdah.alter_queue('q', '{"max_failed_deliveries": 0}')""")
    send(db)
    assert [deliver_and_fail(db) for _ in range(8)] == [(n, "returned") for n in range(1, 9)]


def test_a_named_exception_queue_gets_the_message_and_its_absence_means_the_systems(db: Db) -> None:
    options = Jsonb({"max_failed_deliveries": 1, "exception_queue": "dead"})
    one(db, "select howdah.alter_queue('q', %s)", (options,))
    sent = send(db)
    assert deliver_and_fail(db) == (1, "moved")
    assert [m.message_id for m in receive(db, SYSTEM)] == [sent]
    one(db, "select howdah.create_queue('dead')")
    sent = send(db)
    assert deliver_and_fail(db) == (1, "moved")
    assert [m.message_id for m in receive(db, "dead")] == [sent]


@pytest.mark.parametrize("wait", [0, 5000])
def test_without_exception_destination_a_message_past_its_limit_stays_and_is_retried(
    db: Db, clock: Clock, wait: int
) -> None:
    options = Jsonb({"max_failed_deliveries": 2, "exception_mode": "none", "blocked_retry_ms": wait})
    one(db, "select howdah.alter_queue('q', %s)", (options,))
    send(db)
    assert deliver_and_fail(db) == (1, "returned")
    for attempt in (2, 3, 4):
        assert deliver_and_fail(db) == (attempt, "blocked")
        if wait:
            assert receive(db) == []
            clock.advance(wait / 1000)
    assert len(receive(db)) == 1


def test_the_exception_destination_of_the_engine_never_moves_its_messages_on(db: Db, clock: Clock) -> None:
    one(db, """select howdah.alter_queue('q', '{"max_failed_deliveries": 1}')""")
    send(db)
    deliver_and_fail(db)
    outcomes = [deliver_and_fail(db, SYSTEM)[1] for _ in range(4)]
    assert outcomes == ["returned"] * 4
    assert deliver_and_fail(db, SYSTEM) == (5, "blocked")
    clock.advance(5)
    assert len(receive(db, SYSTEM)) == 1


@pytest.mark.behaviour("SSB-11")
def test_what_is_recorded_in_the_receiving_transaction_rolls_back_with_it(db: Db) -> None:
    sent = send(db)
    with db.transaction(force_rollback=True):
        receive(db)
        assert fail(db, sent)[2] == "gone"
        assert one(db, "select count(*) from howdah.poison_details") == 1
    assert one(db, "select count(*) from howdah.poison_details") == 0
    assert receive(db)[0].delivery_count == 1


@pytest.mark.behaviour("SSB-12")
@pytest.mark.behaviour("SSB-13")
@pytest.mark.behaviour("SSB-15")
def test_an_incident_recorded_after_the_rollback_keeps_every_detail(db: Db, clock: Clock) -> None:
    conversation = uuid4()
    sent = one(db, "select howdah.send('q', 'x', conversation_id => %s)", (conversation,))
    with db.transaction(force_rollback=True):
        receive(db)
    incident, attempt, outcome = fail(
        db,
        sent,
        error_text="no such flight",
        error_class="ValueError",
        sqlstate="22P02",
        traceback="line 1",
        duration_ms=12,
        worker="w1",
        details=Jsonb({"more": [1]}),
    )
    assert (attempt, outcome) == (1, "returned")
    row = db.execute(
        "select incident_id, message_id, conversation_id, error_text, error_class, sqlstate, traceback, duration_ms,"
        " worker, details, recorded_at, recorded_by = session_user, attempt, stage, outcome from howdah.poison_details"
    ).fetchall()
    assert row == [
        (incident, sent, conversation, "no such flight", "ValueError", "22P02", "line 1", 12, "w1", {"more": [1]},
         clock.now, True, 1, 0, "returned")
    ]  # fmt: skip
    assert one(db, "select is_identity from information_schema.columns where table_schema = 'howdah'"
                   " and table_name = 'poison_details' and column_name = 'incident_id'") == "YES"  # fmt: skip


@pytest.mark.behaviour("SSB-14")
def test_incidents_of_a_conversation_are_found_by_index(db: Db) -> None:
    db.execute(
        "insert into howdah.poison_details (message_id, recorded_at, destination_id, attempt, stage, outcome,"
        " conversation_id, recorded_by) select n, now(), 1, 1, 0, 'returned', gen_random_uuid(), 'x'"
        " from generate_series(1, 5000) n"
    )
    db.execute("analyze howdah.poison_details")
    plan = column(db, "explain select * from howdah.poison_details where conversation_id = %s::uuid", (str(uuid4()),))
    assert "ix_poison_details_conversation" in "".join(plan)


def test_a_failure_recorded_again_with_its_key_counts_once(db: Db) -> None:
    sent, key = send(db), uuid4()
    first = fail(db, sent, failure_key=key)
    assert fail(db, sent, failure_key=key, error_text="again") == first
    assert fail(db, sent, failure_key=uuid4())[1] == 2
    assert one(db, "select count(*) from howdah.poison_details") == 2


def test_a_key_that_was_told_with_another_failure_hides_none(db: Db) -> None:
    """Of another message, and of the same message in another queue."""
    one(db, "select howdah.create_queue('mine')")
    sent, other, key = send(db), send(db, "mine"), uuid4()
    assert fail(db, other, queue="mine", failure_key=key)[1] == 1
    assert fail(db, sent, failure_key=key)[1] == 1
    assert fail(db, sent, failure_key=key)[1] == 2, "told again it counts again, for the key is taken"
    assert column(db, "select message_id from howdah.poison_details order by incident_id") == [other, sent, sent]
    key = uuid4()
    assert fail(db, sent, queue="mine", failure_key=key)[2] == "gone"
    assert fail(db, sent, failure_key=key)[1] == 3


def test_the_same_failure_from_two_sessions_at_once_counts_once_and_another_is_the_second(
    db: Db, connect: Connect
) -> None:
    sent, key = send(db), uuid4()
    for second_key, attempt in ((key, 1), (uuid4(), 2)):
        other = connect()
        got: list[int] = []

        def record(other: Db = other, second_key: object = second_key, got: list[int] = got) -> None:
            got.append(fail(other, sent, failure_key=second_key)[1])

        with db.transaction():
            assert fail(db, sent, failure_key=key)[1] == 1
            thread = threading.Thread(target=record)
            thread.start()
            wait_until_blocked(db, other)
        thread.join()
        assert got == [attempt]


def test_the_failure_of_a_message_that_is_gone_is_recorded_all_the_same(db: Db) -> None:
    sent = send(db)
    receive(db)
    assert fail(db, sent)[1:] == (1, "gone")
    assert fail(db, 999999)[1:] == (1, "gone")
    one(db, "select howdah.create_queue('other')")
    assert fail(db, send(db), queue="other")[2] == "gone"
    assert len(receive(db)) == 1


def test_a_recorded_message_is_not_given_out_before_the_recorder_commits(db: Db, connect: Connect) -> None:
    sent = send(db)
    consumer = connect()
    with db.transaction():
        assert fail(db, sent)[2] == "returned"
        assert receive(consumer) == []
    assert receive(consumer)[0].delivery_count == 2


def test_failures_of_a_batch_are_recorded_in_one_call(db: Db) -> None:
    ids = [send(db) for _ in range(3)]
    failures = Jsonb(
        [{"message_id": n, "error_text": f"e{n}", "delay_ms": 1000 * (n == ids[0])} for n in reversed(ids)]
    )
    rows = db.execute(
        "select message_id, attempt, outcome from howdah.record_failures('q', %s)", (failures,)
    ).fetchall()
    assert rows == [(ids[0], 1, "delayed"), (ids[1], 1, "returned"), (ids[2], 1, "returned")]
    assert column(db, "select error_text from howdah.incidents('q') order by message") == [f"e{n}" for n in ids]
    assert db.execute("select * from howdah.record_failures('q', '[]')").fetchall() == []


def test_bad_input_to_record_failure_is_refused(db: Db) -> None:
    sent = send(db)
    bad = ["duration_ms => -1", "details => '[1]'", "details => '7'", "priority => 10", "priority => -1", "stage => -1",
           "stage => 100000", "delay => '-1 s'", "delay => '1000 years'", "priority => -2147483648"]  # fmt: skip
    cases = [("HD005", f"select howdah.record_failure('q', {sent}, {argument})") for argument in bad]
    cases += [
        ("HD005", "select howdah.record_failure('q', null)"),
        ("HD001", f"select howdah.record_failure(null, {sent})"),
        ("HD001", f"select howdah.record_failure('none', {sent})"),
        ("22P02", f"select howdah.record_failure('q', {sent}, failure_key => 'x')"),
    ]
    for failures in (
        "null", "'7'", "'{}'", "'[null]'", "'[7]'", "'[{}]'", "'[{\"message_id\": null}]'",
        "'[{\"message_id\": \"x\"}]'", "'[{\"message_id\": 1.5}]'", "'[{\"message_id\": 1e30}]'",
        "'[{\"message_id\": 1, \"stage\": \"x\"}]'", "'[{\"message_id\": 1, \"failure_key\": \"x\"}]'",
        "'[{\"message_id\": 1, \"delay_ms\": -1}]'", "'[{\"message_id\": 1, \"delay_ms\": 1e30}]'",
        "'[{\"message_id\": 1}, {\"message_id\": 2, \"priority\": 99999}]'",
    ):  # fmt: skip
        cases.append(("HD005", f"select howdah.record_failures('q', {failures})"))
    cases.append(("HD001", "select howdah.record_failures('none', '[]')"))
    all_refused(db, cases)


def test_a_message_sent_with_a_delay_comes_on_time(db: Db, clock: Clock) -> None:
    one(db, "select howdah.send('q', 'late', delay => '10 s')")
    on_time = send(db)
    assert [m.message_id for m in receive(db, n=9)] == [on_time]
    assert receive(db, verb="browse") == []
    clock.advance(9.999)
    assert receive(db) == []
    clock.advance(0.001)
    with db.transaction(force_rollback=True):
        assert [m.body for m in receive(db)] == ["late"]
    (late,) = receive(db)
    assert (late.delivery_count, late.redelivered) == (1, False)


def test_a_queues_redelivery_delay_and_a_calls_own_hold_a_failed_message_back(db: Db, clock: Clock) -> None:
    one(db, """select howdah.alter_queue('q', '{"redelivery_delay_ms": 1500}')""")
    send(db)
    assert deliver_and_fail(db) == (1, "delayed")
    assert one(db, "select due_at from howdah.audit_messages") == clock.now + timedelta(milliseconds=1500)
    clock.advance(1.5)
    assert deliver_and_fail(db, delay=timedelta(hours=1)) == (2, "delayed")
    assert one(db, "select due_at from howdah.audit_messages") == clock.now + timedelta(hours=1)
    clock.advance(3600)
    assert deliver_and_fail(db, delay=timedelta(0)) == (3, "returned")
    assert receive(db)[0].delivery_count == 4


def test_a_delayed_message_of_higher_priority_and_a_non_persistent_one_wait_like_any_other(
    db: Db, clock: Clock
) -> None:
    one(db, "select howdah.send('q', 'a', delay => '1 s', priority => 9, delivery_mode => 'non-persistent')")
    one(db, "select howdah.send('q', 'b', delay => '1 s', time_to_live => '1 s')")
    send(db, body="c")
    assert [m.body for m in receive(db, n=9)] == ["c"]
    clock.advance(1)
    assert [m.body for m in receive(db, n=9)] == ["a"]
    assert "expired" in column(db, "select event from howdah.audit_journal")


def test_two_receivers_share_the_messages_that_are_due(db: Db, connect: Connect, clock: Clock) -> None:
    ids = one(db, "select howdah.send_batch('q', array['a', 'b', 'c', 'd'], delay => '1 s')")
    clock.advance(1)
    other = connect()
    with db.transaction(), other.transaction():
        first, second = receive(db, n=2), receive(other, n=2)
    assert sorted(m.message_id for m in first + second) == ids
