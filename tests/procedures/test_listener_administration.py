"""Administrators make, change, stop and resume listeners; others see and use what they may."""

import threading

import pytest
from listeners_support import create, record, send, shown
from psycopg.types.json import Jsonb
from support import Connect, Db, all_refused, column, one, receive, refused, wait_until_blocked


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")


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
