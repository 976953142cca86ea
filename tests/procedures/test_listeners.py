"""Listeners: what stops them, what sets their counter back, how many sessions they have, and who may do what."""

import threading
from typing import Any
from uuid import uuid4

import pytest
from policy_support import backout_queue
from psycopg.types.json import Jsonb
from support import SYSTEM, Clock, Connect, Db, all_refused, column, one, receive, refused, wait_until_blocked

KINDS = pytest.mark.parametrize("kind", ["activation_specification", "listener_port"])
"""Two names of the same thing."""


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")


def create(db: Db, name: str = "l", **options: Any) -> str | None:
    warning: str | None = one(db, "select howdah.create_listener(%s, 'q', %s)", (name, Jsonb(options)))
    return warning


def shown(db: Db, *columns: str, name: str = "l") -> tuple[Any, ...]:
    (row,) = db.execute(f"select {', '.join(columns)} from howdah.list_listeners(%s)".encode(), (name,)).fetchall()
    return row


def state(db: Db, name: str = "l") -> tuple[Any, ...]:
    return shown(db, "failures", "status", name=name)


def send(db: Db, *bodies: str) -> list[int]:
    ids: list[int] = one(db, "select howdah.send_batch('q', %s::text[])", (list(bodies),))
    return ids


def record(db: Db, *message_ids: int, name: str = "l", **more: Any) -> list[tuple[Any, ...]]:
    failures = [{"message_id": number, **more} for number in message_ids]
    return db.execute(
        "select message_id, attempt, outcome, listener_status from howdah.record_failures_as(%s, %s)",
        (name, Jsonb(failures)),
    ).fetchall()


def fail_next(db: Db, **more: Any) -> tuple[int, int] | None:
    """One failed delivery; the message and the delivery count seen, or None if the listener gave nothing."""
    with db.transaction(force_rollback=True):
        messages = receive(db, "l", verb="receive_as")
    if not messages:
        return None
    record(db, messages[0].message_id, **more)
    return messages[0].message_id, messages[0].delivery_count


def handle_next(db: Db) -> int | None:
    """One handled delivery."""
    with db.transaction():
        messages = receive(db, "l", verb="receive_as")
        if messages:
            db.execute("select howdah.handled_as('l')")
    return messages[0].message_id if messages else None


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


def test_stopping_by_hand_keeps_a_first_reason_and_says_whether_it_ran(db: Db, connect: Connect) -> None:
    create(db)
    admin = connect("howdah_admin")
    assert one(admin, "select howdah.stop_listener('l', 'upgrade')") is True
    assert one(db, "select howdah.stop_listener('l', 'again')") is False
    assert shown(db, "status, stopped_by, stopped_message_id, stop_reason") == (
        "stopped",
        "howdah_admin",
        None,
        "upgrade",
    )
    assert one(db, "select howdah.resume_listener('l')") is True
    assert one(db, "select howdah.resume_listener('l')") is False


def test_resuming_wakes_who_waits_for_the_queue(db: Db, connect: Connect) -> None:
    create(db)
    one(db, "select howdah.stop_listener('l')")
    listening = connect()
    listening.execute("listen howdah")
    payload = one(db, "select payload from howdah.wait('q')")
    one(db, "select howdah.resume_listener('l')")
    assert [n.payload for n in listening.notifies(timeout=20, stop_after=1)] == [payload]


def test_ensuring_leaves_an_administrators_options(db: Db, connect: Connect) -> None:
    consumer = connect("howdah_consumer")
    assert one(consumer, "select howdah.ensure_listener('l', 'q', %s)", (Jsonb({"max_sessions": 3}),))
    one(db, "select howdah.alter_listener('l', %s)", (Jsonb({"sequential_failures": 7}),))
    one(consumer, "select howdah.ensure_listener('l', 'q', %s)", (Jsonb({"max_sessions": 4}),))
    assert shown(db, "max_sessions, sequential_failures, created_by") == (3, 7, "howdah_consumer")


def test_two_workers_that_ensure_at_once_get_one_listener(db: Db, connect: Connect) -> None:
    other = connect()
    with db.transaction():
        one(db, "select howdah.ensure_listener('l', 'q')")
        thread = threading.Thread(target=one, args=(other, "select howdah.ensure_listener('l', 'q')"))
        thread.start()
        wait_until_blocked(connect(), other)
    thread.join()
    assert one(db, "select count(*) from howdah.list_listeners()") == 1


def test_a_dropped_queue_takes_its_listeners_along_and_work_in_hand_is_finished(db: Db, connect: Connect) -> None:
    create(db)
    send(db, "a")
    session = connect()
    with session.transaction():
        assert receive(session, "l", verb="receive_as")
        one(db, "select howdah.drop_listener('l')")
        session.execute("select howdah.handled_as('l')")
    assert receive(db, verb="browse") == []
    create(db)
    one(db, "select howdah.drop_queue('q', true)")
    assert column(db, "select listener_name from howdah.list_listeners()") == []


def test_bad_arguments_are_refused_before_anything_is_written(db: Db) -> None:
    create(db)
    one(db, "select howdah.create_queue('other')")
    options = ["null", "'[]'", """'{"colour": 1}'""", """'{"max_sessions": 0}'""", """'{"max_sessions": 1001}'""",
               """'{"sequential_failures": -1}'""", """'{"stop_on_failure": "yes"}'""",
               """'{"kind": "bean"}'"""]  # fmt: skip
    verbs = ["alter_listener('x', '{}')", "drop_listener('x')", "stop_listener('x')", "resume_listener('x')",
             "receive_as('x')", "record_failures_as('x', '[]')"]  # fmt: skip
    all_refused(
        db,
        [
            *[("HD004", f"select howdah.create_listener('m', 'q', {o})") for o in options],
            *[("HD004", f"select howdah.ensure_listener('m', 'q', {o})") for o in options],
            *[("HD004", f"select howdah.alter_listener('l', {o})") for o in options],
            *[("HD020", f"select howdah.{verb}") for verb in verbs],
            ("HD020", "select howdah.receive_as(null)"),
            ("HD003", "select howdah.create_listener('a b', 'q')"),
            ("HD003", "select howdah.create_listener(null, 'q')"),
            ("HD001", "select howdah.create_listener('m', 'nowhere')"),
            ("HD021", "select howdah.create_listener('l', 'q')"),
            ("HD021", "select howdah.ensure_listener('l', 'other')"),
            ("HD005", "select howdah.receive_as('l', 0)"),
            ("HD005", "select howdah.record_failures_as('l', '{}')"),
        ],
    )


def test_a_paused_queue_is_paused_for_its_listeners(db: Db) -> None:
    create(db)
    one(db, "select howdah.pause('q')")
    refused(db, "HD009", "select howdah.receive_as('l')")


@pytest.mark.parametrize("verb", ["create_listener('m', 'q')", "alter_listener('l', '{}')", "drop_listener('l')",
                                  "stop_listener('l')", "resume_listener('l')"])  # fmt: skip
def test_only_administrators_change_a_listener(db: Db, connect: Connect, verb: str) -> None:
    create(db)
    refused(connect("howdah_consumer"), "42501", f"select howdah.{verb}")
    db.execute("delete from howdah.destination_grants where verb = 'admin'")
    refused(connect("howdah_admin"), "HD010", f"select howdah.{verb}")


def test_who_may_not_receive_from_the_queue_may_not_through_a_listener(db: Db, connect: Connect) -> None:
    create(db, sequential_failures=9)
    (sent,) = send(db, "a")
    record(db, sent)
    assert column(connect("howdah_browser"), "select listener_name from howdah.list_listeners()") == ["l"]
    db.execute("delete from howdah.destination_grants where verb = 'receive' and role_name = 'howdah_consumer'")
    consumer = connect("howdah_consumer")
    for verb in ("ensure_listener('m', 'q')", "receive_as('l')", "handled_as('l')", "record_failures_as('l', '[]')"):
        refused(consumer, "HD010", f"select howdah.{verb}")
    one(db, "select howdah.stop_listener('l')")
    refused(consumer, "HD010", "select howdah.receive_as('l')")
    refused(connect("howdah_producer"), "42501", "select howdah.receive_as('l')")


def test_the_error_that_stopped_it_is_for_those_who_may_browse(db: Db, connect: Connect) -> None:
    create(db)
    (sent,) = send(db, "a")
    record(db, sent, error_text="secret")
    asked = "stopped_message_id, stop_reason like '%%secret'"
    assert shown(connect("howdah_browser"), asked) == (sent, True)
    assert shown(connect("howdah_producer"), asked) == (sent, None)


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
