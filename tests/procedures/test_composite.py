"""Sending to several destinations at once: A,B,topic://C,queue://D."""

from __future__ import annotations

import pytest
from support import Connect, Db, all_refused, column, one, receive, refused


@pytest.fixture(autouse=True)
def destinations(db: Db) -> None:
    for queue in ("A", "B", "D"):
        one(db, "select howdah.create_queue(%s)", (queue,))
    one(db, "select howdah.create_topic('C')")
    one(db, "select howdah.subscribe('C', 's')")


def bodies(db: Db) -> dict[str, list[str | None]]:
    """What lies where."""
    return {queue: [m.body for m in receive(db, queue, 9, "browse")] for queue in ("A", "B", "D", "C::s")}


def test_each_destination_gets_a_message_and_the_number_is_the_first_ones(db: Db) -> None:
    sent = one(db, "select howdah.send('A,B, topic://C ,queue://D', 'x', correlation_id => 'c')")
    assert bodies(db) == {"A": ["x"], "B": ["x"], "D": ["x"], "C::s": ["x"]}
    (first,) = receive(db, "A")
    assert (first.message_id, first.correlation_id) == (sent, "c")


def test_a_destination_that_is_named_twice_gets_one(db: Db) -> None:
    one(db, "select howdah.send('A,queue://A,A', 'x')")
    assert bodies(db)["A"] == ["x"]


def test_one_name_may_say_its_kind(db: Db) -> None:
    one(db, "select howdah.send('queue://A', 'x')")
    one(db, "select howdah.send('topic://C', 'y')")
    assert bodies(db) == {"A": ["x"], "B": [], "D": [], "C::s": ["y"]}


def test_a_batch_goes_to_each_and_the_numbers_are_the_first_ones(db: Db) -> None:
    sent = one(db, "select howdah.send_batch('B,topic://C', array['x', 'y'])")
    assert bodies(db) == {"A": [], "B": ["x", "y"], "D": [], "C::s": ["x", "y"]}
    assert [m.message_id for m in receive(db, "B", 9)] == sent


def test_options_hold_for_each(db: Db) -> None:
    one(db, "select howdah.send('A,B', '{\"a\": 1}'::jsonb, '{\"h\": 1}', 9, delivery_mode => 'non-persistent')")
    for queue in ("A", "B"):
        (message,) = receive(db, queue)
        assert (message.headers, message.priority, message.delivery_mode) == ({"h": 1}, 9, "non-persistent")


def test_they_are_sent_in_the_callers_transaction(db: Db) -> None:
    with db.transaction(force_rollback=True):
        one(db, "select howdah.send('A,B', 'x')")
    assert bodies(db)["A"] == bodies(db)["B"] == []


def test_nothing_is_sent_if_one_of_them_is_unknown_paused_full_or_not_the_callers(db: Db, connect: Connect) -> None:
    one(db, "select howdah.create_queue('full', '{\"message_limit\": 1}')")
    one(db, "select howdah.send('full', 'x')")
    one(db, "select howdah.create_queue('paused')")
    one(db, "select howdah.pause('paused')")
    all_refused(
        db,
        [
            ("HD001", "select howdah.send('A,none', 'x')"),
            ("HD001", "select howdah.send('A,queue://C', 'x')"),
            ("HD001", "select howdah.send('A,topic://B', 'x')"),
            ("HD001", "select howdah.send('A,,B', 'x')"),
            ("HD001", "select howdah.send('A,', 'x')"),
            ("HD001", "select howdah.send('mailto://A', 'x')"),
            ("HD018", "select howdah.send('A,full', 'x')"),
            ("HD008", "select howdah.send('A,paused', 'x')"),
            ("HD006", "select howdah.send('A,B', 'x', priority => 10)"),
            ("HD018", "select howdah.send_batch('A,full', array['x'])"),
            ("HD001", "select howdah.send_batch('A,none', array['x'])"),
        ],
    )
    db.execute(
        "delete from howdah.destination_grants where verb = 'send'"
        " and role_name = 'howdah_producer' and destination_id ="
        " (select id from howdah.destinations where name = 'B')"
    )
    refused(connect("howdah_producer"), "HD010", "select howdah.send('A,B', 'x')")
    assert bodies(db) == {"A": [], "B": [], "D": [], "C::s": []}
    assert column(db, "select 1 from howdah.journal where event = 'sent'") == []
