"""Messages that fail in one subscription: what its policy does with them, and that the others never notice."""

import pytest
from support import SYSTEM, Clock, Connect, Db, column, fail, one, receive, refused
from topics_support import bodies, consume, publish, rotate, stored, subscribe, topic


@pytest.fixture(autouse=True)
def a_topic(db: Db) -> None:
    topic(db)


@pytest.fixture(params=[False, True], ids=["unshared", "shared"])
def shared(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.mark.first_case
def test_a_poison_message_is_set_aside_for_its_subscription_alone(db: Db, shared: bool) -> None:
    name = subscribe(db, shared=shared, options={"max_failed_deliveries": 3})
    other = subscribe(db, "other")
    poison, fine = publish(db, "poison", "fine")
    seen = []
    for _ in range(3):
        with db.transaction(force_rollback=True):
            first = receive(db, name)[0]
        seen.append(first.delivery_count)
        outcome = fail(db, poison, name, error_text="no", error_class="ValueError", traceback="line 1")
    assert (seen, outcome[1:]) == ([1, 2, 3], (3, "moved"))
    assert [m.message_id for m in receive(db, name, 9)] == [fine]
    assert [(m.message_id, m.delivery_count) for m in receive(db, other, 9)] == [(poison, 1), (fine, 1)]
    (dead,) = receive(db, SYSTEM, 9, "browse")
    assert (dead.message_id, dead.body, dead.origin_queue) == (poison, "poison", name)
    assert dead.dead_reason == "failed deliveries reached the limit"
    assert db.execute(
        "select queue, attempt, outcome, error_class, error_text from howdah.audit_incidents order by incident_id"
    ).fetchall() == [(name, n, "moved" if n == 3 else "returned", "ValueError", "no") for n in (1, 2, 3)]
    assert column(db, "select queue || '>' || other_queue from howdah.audit_journal where event = 'moved'") == [
        f"{name}>{SYSTEM}"
    ]


def test_two_subscriptions_count_and_dispose_of_one_message_each_for_itself(db: Db) -> None:
    first = subscribe(db, "a", options={"max_failed_deliveries": 1})
    second = subscribe(db, "b", options={"max_failed_deliveries": 2, "at_limit": "discard"})
    (sent,) = publish(db, "x")
    assert fail(db, sent, first)[2] == "moved"
    assert fail(db, sent, second)[1:] == (1, "returned")
    assert fail(db, sent, first)[2] == "gone"
    assert fail(db, sent, second)[1:] == (2, "discarded")
    assert (bodies(db, first), bodies(db, second)) == ([], [])
    assert len(receive(db, SYSTEM, 9, "browse")) == 1


def test_a_rejected_message_is_disposed_of_at_once(db: Db) -> None:
    name = subscribe(db)
    (sent,) = publish(db, "a")
    assert fail(db, sent, name, reject=True)[2] == "moved"
    assert bodies(db, name) == []


def test_a_failure_while_the_message_is_in_hand_is_settled_afterwards(db: Db, connect: Connect, shared: bool) -> None:
    name = subscribe(db, shared=shared, options={"max_failed_deliveries": 1})
    (sent,) = publish(db, "a")
    reader = connect()
    with reader.transaction(force_rollback=True):
        assert bodies(reader, name) == ["a"]
        assert fail(db, sent, name)[2] == "held"
    with db.transaction(force_rollback=False):
        # One failure is recorded: the limit is met when it is received next.
        assert bodies(db, name) == []
    assert [m.message_id for m in receive(db, SYSTEM, 9, "browse")] == [sent]


@pytest.mark.first_case
def test_a_savepoint_gives_the_message_back_and_the_failure_is_recorded_in_the_same_transaction(
    db: Db, shared: bool
) -> None:
    name = subscribe(db, shared=shared, options={"max_failed_deliveries": 2})
    publish(db, "poison", "fine")
    for expected in ("returned", "moved"):
        with db.transaction():
            with db.transaction(force_rollback=True):
                (message,) = receive(db, name)
            assert fail(db, message.message_id, name)[2] == expected
    assert bodies(db, name) == ["fine"]


def test_shared_consumers_redeliver_by_message_and_hold_nobody_up(db: Db, connect: Connect) -> None:
    name = subscribe(db, shared=True, options={"max_failed_deliveries": 2, "redelivery_delay_ms": 0})
    sent = publish(db, *map(str, range(4)))
    first, second = connect(), connect()
    with first.transaction(force_rollback=True), second.transaction():
        assert bodies(first, name, 1) == ["0"]
        assert bodies(second, name, 2) == ["1", "2"]
    assert fail(first, sent[0], name)[2] == "returned"
    with second.transaction():
        got = receive(second, name, 9)
        assert [(m.body, m.delivery_count) for m in got] == [("0", 2), ("3", 1)]
    assert bodies(first, name) == []


def test_what_is_set_aside_does_not_hold_the_storage_of_the_topic(db: Db, clock: Clock) -> None:
    name = subscribe(db, options={"redelivery_delay_ms": 3_600_000_000})
    (sent,) = publish(db, "x")
    assert fail(db, sent, name)[2] == "delayed"
    bodies(db, name)
    for _ in range(3):
        rotate(db, clock)
    assert stored(db) == 0
    clock.advance(3_600_000)
    assert [(m.body, m.delivery_count) for m in receive(db, name)] == [("x", 2)]


def test_a_second_report_of_the_same_failure_counts_once(db: Db) -> None:
    name = subscribe(db)
    (sent,) = publish(db, "x")
    key = "0f8fad5b-d9cb-469f-a165-70867728950e"
    assert fail(db, sent, name, failure_key=key) == fail(db, sent, name, failure_key=key)
    assert one(db, "select count(*) from howdah.poison_details") == 1


def test_a_failure_of_what_a_subscription_never_had_or_has_read_is_gone(db: Db) -> None:
    name = subscribe(db, selector="n = 1")
    (unwanted,) = publish(db, "x", headers={"n": 2})
    (read,) = publish(db, "y", headers={"n": 1})
    bodies(db, name)
    assert [fail(db, number, name)[2] for number in (unwanted, read, 12345)] == ["gone", "gone", "gone"]


def test_an_acknowledged_message_cannot_fail_and_a_held_one_can_be_set_aside(db: Db) -> None:
    name = subscribe(db, options={"max_failed_deliveries": 1})
    first, second = publish(db, "1", "2")
    with db.transaction():
        receive(db, name, 9, "receive_locked")
        consume(db, name, second)
        assert fail(db, second, name)[2] == "gone"
        assert fail(db, first, name)[2] == "moved"
    assert bodies(db, name) == []


def test_incidents_of_a_topic_message_stay_while_a_subscription_has_not_read_it(
    db: Db, clock: Clock, shared: bool
) -> None:
    name = subscribe(db, shared=shared, options={"max_failed_deliveries": 3})
    other = subscribe(db, "other", shared=shared, options={"max_failed_deliveries": 3})
    passed, waiting, ahead = publish(db, "passed", "waiting", "ahead")
    volatile, done = publish(db, "volatile", "done", delivery_mode="non-persistent")
    sent = [passed, waiting, ahead, volatile, done]
    for subscription in (name, other):
        assert [fail(db, number, subscription)[2] for number in sent] == ["returned"] * 5
    assert bodies(db, name, 1) == ["passed"]
    receive(db, name, 9, "receive_locked")
    consume(db, name, done)
    rotate(db, clock)
    publish(db, "new")
    clock.advance(91 * 86400)
    one(db, "select howdah.unsubscribe(%s)", (other,))
    assert one(db, "select howdah.maintain_incidents()") == 7
    kept = "select message_id from howdah.poison_details order by incident_id"
    assert column(db, kept) == [waiting, ahead, volatile]
    assert [fail(db, waiting, name)[1:] for _ in range(2)] == [(2, "returned"), (3, "moved")]
    assert one(db, "select howdah.maintain_incidents()") == 0
    assert bodies(db, name) == ["ahead", "volatile", "new"]
    assert one(db, "select howdah.maintain_incidents()") == 2
    assert column(db, kept) == [waiting] * 3


def test_incidents_of_a_topic_message_stay_while_the_cursor_of_its_priority_has_not_passed_it(
    db: Db, clock: Clock
) -> None:
    name = subscribe(db, options={"max_failed_deliveries": 3, "prioritized": True})
    (low,), (high,) = publish(db, "low", priority=1), publish(db, "high", priority=9)
    assert [fail(db, number, name)[2] for number in (low, high)] == ["returned"] * 2
    assert bodies(db, name, 1) == ["high"]
    clock.advance(91 * 86400)
    assert one(db, "select howdah.maintain_incidents()") == 1
    assert column(db, "select message_id from howdah.poison_details") == [low]


def test_rights_and_arguments_of_failures_are_those_of_queues(db: Db, connect: Connect) -> None:
    name = subscribe(db)
    (sent,) = publish(db, "x")
    producer = connect("howdah_producer")
    refused(producer, "42501", "select howdah.record_failure(%s, %s)", (name, sent))
    one(db, "select howdah.revoke_queue(%s, 'receive', 'howdah_consumer')", (name,))
    refused(connect("howdah_consumer"), "HD010", "select howdah.record_failure(%s, %s)", (name, sent))
    refused(db, "HD005", "select howdah.record_failure(%s, %s, delay => '-1 s')", (name, sent))
