"""Failures stop a listener, and a handled message sets their count back."""

from uuid import uuid4

import pytest
from listeners_support import KINDS, create, fail_next, handle_next, record, send, shown, state
from policy_support import backout_queue
from psycopg.types.json import Jsonb
from support import Clock, Db, column, one, receive, refused


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")


@pytest.mark.behaviour("WAS-23")
@pytest.mark.behaviour("WAS-24")
def test_a_new_listener_stops_at_the_first_failure_and_has_ten_sessions(db: Db, clock: Clock) -> None:
    create(db)
    row = shown(
        db, "queue, kind, stop_on_failure, sequential_failures, max_sessions, failures, status, created_at, created_by"
    )
    assert row[:7] == ("q", "activation_specification", True, 0, 10, 0, "running")
    assert row[7:] == (clock.now, db.info.user)


@pytest.mark.behaviour("WAS-27")
@pytest.mark.behaviour("WAS-28")
@pytest.mark.behaviour("WAS-41")
@KINDS
def test_the_first_failure_stops_it_until_it_is_resumed(db: Db, clock: Clock, kind: str) -> None:
    create(db, kind=kind)
    first, second = send(db, "poison", "next")
    assert fail_next(db, error_class="ValueError", error_text="bad") == (first, 1)
    assert state(db) == (1, "stopped")
    assert shown(db, "stopped_at, stopped_by, stopped_message_id, stop_reason") == (
        clock.now, db.info.user, first, "failed deliveries in a row: 1; the last one: ValueError: bad",
    )  # fmt: skip
    assert receive(db, "l", verb="receive_as") == []
    assert [m.message_id for m in receive(db, n=2, verb="browse")] == [first, second]
    assert one(db, "select howdah.resume_listener('l')") is True
    assert shown(db, "failures, status, stopped_at, stopped_by, stopped_message_id, stop_reason") == (
        1, "running", None, None, None, None,
    )  # fmt: skip
    assert fail_next(db) == (first, 2)


@pytest.mark.behaviour("WAS-41")
def test_a_listener_port_is_a_listener_by_another_name(db: Db) -> None:
    create(db, kind="listener_port")
    assert shown(db, "kind, stop_on_failure, sequential_failures, max_sessions") == ("listener_port", True, 0, 10)
    one(db, "select howdah.alter_listener('l', %s)", (Jsonb({"kind": "activation_specification"}),))
    assert shown(db, "kind") == ("activation_specification",)


@pytest.mark.behaviour("WAS-33")
@KINDS
def test_without_a_threshold_stop_and_resume_go_on_until_the_message_is_removed(db: Db, kind: str) -> None:
    one(db, "select howdah.alter_queue('q', %s)", (Jsonb({"max_failed_deliveries": 0}),))
    assert create(db, kind=kind) is None
    poison, good = send(db, "poison", "good")
    seen = []
    for _ in range(3):
        seen.append((fail_next(db), state(db), fail_next(db)))
        one(db, "select howdah.resume_listener('l')")
    assert seen == [((poison, count), (count, "stopped"), None) for count in (1, 2, 3)]
    one(db, "select howdah.discard('q', %s)", ([poison],))
    assert handle_next(db) == good
    assert state(db) == (0, "running")


def test_a_resumed_listener_stops_at_the_next_failure_until_a_message_was_handled(db: Db) -> None:
    create(db, sequential_failures=3)
    send(db, *"abcdefgh")
    for expected in ((1, "running"), (2, "running"), (3, "stopped")):
        fail_next(db)
        assert state(db) == expected
    one(db, "select howdah.resume_listener('l')")
    fail_next(db)
    assert state(db) == (4, "stopped")
    one(db, "select howdah.resume_listener('l')")
    handle_next(db)
    fail_next(db)
    assert state(db) == (1, "running")


@pytest.mark.behaviour("WAS-25")
@pytest.mark.behaviour("WAS-26")
@KINDS
def test_failures_add_up_and_a_handled_message_sets_them_to_0(db: Db, kind: str) -> None:
    create(db, sequential_failures=9, kind=kind)
    send(db, "a", "b")
    for expected in (1, 2):
        fail_next(db)
        assert state(db) == (expected, "running")
    handle_next(db)
    assert state(db) == (0, "running")


def test_a_handled_message_whose_transaction_rolls_back_sets_nothing(db: Db) -> None:
    create(db, sequential_failures=9)
    send(db, "a")
    fail_next(db)
    with db.transaction(force_rollback=True):
        receive(db, "l", verb="receive_as")
        db.execute("select howdah.handled_as('l')")
        assert state(db) == (0, "running")
    assert state(db) == (1, "running")


@pytest.mark.behaviour("WAS-39")
@KINDS
def test_two_failures_a_success_and_two_failures_do_not_stop_at_three(db: Db, kind: str) -> None:
    create(db, sequential_failures=3, kind=kind)
    send(db, *"abcde")
    for step in (fail_next, fail_next, handle_next, fail_next, fail_next):
        assert step(db)
    assert state(db) == (2, "running")
    fail_next(db)
    assert state(db) == (3, "stopped")


@pytest.mark.behaviour("WAS-35")
@KINDS
def test_a_limit_above_the_threshold_moves_the_message_and_goes_on(db: Db, kind: str) -> None:
    one(db, "select howdah.create_queue('BACKOUT')")
    for verb in ("pass_all", "set_all"):
        one(db, "select howdah.grant_queue('BACKOUT', %s, %s)", (verb, db.info.user))
    options = {"preset": "websphere_mq", "max_failed_deliveries": 1, "exception_queue": "BACKOUT"}
    one(db, "select howdah.alter_queue('q', %s)", (Jsonb(options),))
    assert create(db, sequential_failures=5, kind=kind) is None
    poison, good = send(db, "poison", "good")
    assert fail_next(db) == (poison, 1)
    assert state(db) == (1, "running")
    assert [m.message_id for m in receive(db, n=9, verb="browse")] == [poison, good], "moved when it is met again"
    assert handle_next(db) == good
    assert [m.message_id for m in receive(db, "BACKOUT", 9, "browse")] == [poison]
    assert state(db) == (0, "running")


@pytest.mark.behaviour("WAS-35")
@KINDS
def test_a_limit_that_stops_before_the_threshold_is_warned_of(db: Db, kind: str) -> None:
    warning = create(db, kind=kind)
    assert warning is not None
    assert "stops at failure 1, before queue q disposes of a message at failure 5" in warning
    assert one(db, "select howdah.ensure_listener('l', 'q')") == warning
    assert shown(db, "warning") == (warning,)
    warned = {
        repr(options): one(db, "select howdah.alter_listener('l', %s)", (Jsonb(options),)) is not None
        for options in (
            {"sequential_failures": 5},
            {"sequential_failures": 6},
            {"sequential_failures": 4},
            {"stop_on_failure": False},
        )
    }
    assert list(warned.values()) == [True, False, True, False]
    one(db, "select howdah.alter_listener('l', %s)", (Jsonb({"stop_on_failure": True}),))
    assert shown(db, "warning")[0] is not None
    one(db, "select howdah.alter_queue('q', %s)", (Jsonb({"max_failed_deliveries": 0}),))
    assert shown(db, "warning") == (None,)
    one(db, "select howdah.alter_queue('q', %s)", (Jsonb({"backout_count": "hardened"}),))
    assert shown(db, "warning") == (None,)
    refused(db, "HD019", "select howdah.receive_as('l')")


@pytest.mark.behaviour("WAS-40")
@KINDS
@pytest.mark.first_case
def test_with_stopping_unchecked_detection_moves_every_poison_message_into_the_backout_queue(db: Db, kind: str) -> None:
    backout_queue(db)
    mq = {"preset": "websphere_mq", "max_failed_deliveries": 5, "exception_queue": "BACKOUT"}
    one(db, "select howdah.alter_queue('q', %s)", (Jsonb(mq),))
    create(db, stop_on_failure=False, sequential_failures=3, max_sessions=5, kind=kind)
    sent = send(db, *["poison"] * 10)
    for number in range(50):
        assert fail_next(db) == (sent[number // 5], number % 5 + 1)
    assert receive(db, "BACKOUT", 99, "browse") == [], "the comparison is made when a delivery would come next"
    assert handle_next(db) is None
    assert [m.message_id for m in receive(db, "BACKOUT", 99, "browse")] == sent
    assert state(db) == (50, "running")
    (good,) = send(db, "good")
    assert handle_next(db) == good


def test_a_failure_recorded_twice_under_one_key_counts_once(db: Db) -> None:
    create(db, sequential_failures=9)
    (sent,) = send(db, "a")
    key = str(uuid4())
    assert record(db, sent, failure_key=key) == record(db, sent, failure_key=key)
    assert state(db) == (1, "running")


def test_an_incident_is_recorded_as_without_a_listener(db: Db) -> None:
    create(db, sequential_failures=2)
    first, second = send(db, "a", "b")
    assert record(db, second, first, error_text="x") == [
        (first, 1, "returned", "stopped"),
        (second, 1, "returned", "stopped"),
    ]
    assert column(db, "select message from howdah.incidents('q') order by incident_id") == [first, second]
    assert record(db) == []
    assert state(db) == (2, "stopped")
