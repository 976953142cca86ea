"""A message that waits or is leased holds up its group from its place on, and no other group."""

from __future__ import annotations

from typing import Any

import pytest
from groups_support import send, take
from policy_support import Create
from psycopg.types.json import Jsonb
from support import Clock, Connect, Db, column, one


@pytest.fixture
def grouped(create: Create) -> None:
    create("q", message_groups="transaction")


def test_a_message_that_waits_for_its_redelivery_holds_its_group_up_and_no_other(
    db: Db, create: Create, clock: Clock
) -> None:
    create("q", message_groups="transaction", redelivery_delay_ms=5000)
    first = send(db, "a1", "b1", "a2", "b2")[0]
    one(db, "select r from howdah.record_failure('q', %s, 'bad') r", (first,))
    assert take(db) == ["b1", "b2"]
    clock.advance(6)
    assert take(db) == ["a1", "a2"]


def test_a_message_that_waits_holds_up_what_lies_behind_it_only(db: Db, create: Create, clock: Clock) -> None:
    create("q", message_groups="transaction", redelivery_delay_ms=5000)
    third = send(db, "a1", "a2", "a3", "a4")[2]
    with db.transaction(force_rollback=True):
        assert len(take(db, 3)) == 3
    one(db, "select r from howdah.record_failure('q', %s, 'bad') r", (third,))
    assert take(db) == ["a1", "a2"]
    assert take(db) == []
    clock.advance(6)
    assert take(db) == ["a3", "a4"]


def test_a_message_that_waited_long_comes_behind_those_before_it(db: Db, create: Create, clock: Clock) -> None:
    create("q", message_groups="transaction", redelivery_delay_ms=5000)
    sent = send(db, "a1", "a2", "a3", "a4")
    one(db, "select r from howdah.record_failure('q', %s, 'bad') r", (sent[2],))
    clock.advance(1)
    one(db, "select r from howdah.record_failure('q', %s, 'bad') r", (sent[0],))
    clock.advance(9)
    got: list[str] = []
    while taken := take(db):
        got += taken
    assert got == ["a1", "a2", "a3", "a4"]


def test_a_leased_message_holds_its_group_up_until_it_is_acknowledged_or_its_lease_ends(
    db: Db, grouped: None, clock: Clock
) -> None:
    send(db, "a1", "a2", "b1", "a3")
    rows = db.execute("select lease, body from howdah.lease('q', 9, '30 seconds')").fetchall()
    assert [body for _, body in rows] == ["a1", "b1"], (
        "one message a group: what is handled in part would break the order"
    )
    assert take(db) == []
    one(
        db, "select howdah.ack('q', %s, array[(select message_id from howdah.browse('q', 1)) - 1000000])", (rows[0][0],)
    )
    assert take(db, 1) == ["a2"]
    assert one(db, "select count(*) from howdah.lease('q', 9, '30 seconds')") == 1
    clock.advance(31)
    assert take(db) == ["b1", "a3"]


@pytest.mark.parametrize("number", [1, 2, 33], ids=["one", "several", "many"])
@pytest.mark.parametrize("back", [False, True], ids=["new", "returned"])
def test_a_receive_does_not_keep_a_group_that_is_held_up_to_the_end_of_its_handler(
    db: Db, grouped: None, connect: Connect, number: int, back: bool
) -> None:
    bodies = [f"b{n}" for n in range(number)]
    send(db, "a1", "a2", *bodies)
    lease = one(db, "select lease from howdah.lease('q', 1)")
    other = connect()
    if back:
        with db.transaction(force_rollback=True):
            db.execute("select from howdah.msgs for update")
    for _ in range(20):  # one call in thirty goes another way
        with other.transaction(force_rollback=True):
            assert take(other, number) == bodies
            with db.transaction(force_rollback=True):
                one(db, "select howdah.ack('q', %s)", (lease,))
                assert take(db, 1) == ["a2"]


def test_held_messages_are_one_of_each_group(db: Db, grouped: None) -> None:
    send(db, "a1", "a2", "b1")
    with db.transaction(force_rollback=True):
        assert column(db, "select body from howdah.receive_locked('q', 9)") == ["a1", "b1"]


@pytest.mark.parametrize("verb", ["lease", "receive_locked"])
@pytest.mark.parametrize(
    "place",
    [{"delay": "1 second"}, {"priority": 9}, {"delivery_mode": "non-persistent"}],
    ids=lambda place: next(iter(place)),
)
def test_held_messages_are_one_of_each_group_though_the_others_lie_elsewhere(
    db: Db, grouped: None, clock: Clock, place: dict[str, Any], verb: str
) -> None:
    send(db, "a1", "'2", **place)
    send(db, "a3", "'4", "\\5", "c6", "\\7")
    one(db, "select howdah.send('q', 'free')")
    one(db, "select howdah.send('q', 'free', priority => 9)")
    clock.advance(2)
    with db.transaction():
        held = column(db, f"select body from howdah.{verb}('q', 20)")
    assert sorted(held) == sorted(["a1", "'2", "\\5", "c6", "free", "free"])


def test_a_message_whose_delay_is_over_waits_for_none_that_its_consumers_selector_excludes(
    db: Db, grouped: None, clock: Clock
) -> None:
    for body, colour in (("a1", "red"), ("a2", "blue"), ("a3", "blue")):
        one(
            db,
            "select howdah.send('q', %s, headers => %s)",
            (body, Jsonb({"JMSXGroupID": "a", "colour": colour})),
        )
    second = one(db, "select message_id from howdah.browse('q', selector => 'colour = ''blue''') limit 1")
    one(db, "select outcome from howdah.record_failure('q', %s, 'bad', delay => '10 seconds')", (second,))
    blue = "select body from howdah.receive('q', 1, selector => 'colour = ''blue''')"
    assert column(db, blue) == []
    clock.advance(11)
    assert column(db, "select body from howdah.receive('q', 1, selector => 'colour = ''green''')") == []
    assert column(db, blue) + column(db, blue) == ["a2", "a3"]
    assert take(db) == ["a1"]
