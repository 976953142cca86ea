"""Message groups in queues that admit one consumer at a time: nothing that is free is passed by."""

from __future__ import annotations

import time
from typing import Any

import pytest
from policy_support import Create
from psycopg.types.json import Jsonb
from support import Clock, Db, column, one

ALONE = [
    pytest.param({"strict_order": True}, False, id="strict"),
    pytest.param({"delivery_policy": "single"}, False, id="single"),
    pytest.param({"delivery_policy": "failover"}, False, id="failover"),
    pytest.param({"strict_order": True, "delivery_policy": "failover"}, False, id="strict-failover"),
    pytest.param({}, True, id="exclusive"),
]


def grouped(db: Db, create: Create, options: dict[str, Any], exclusive: bool) -> int | None:
    """A queue with message groups, and the consumer that is admitted to it, if it needs one."""
    create("q", message_groups="transaction", **options)
    if not exclusive and "delivery_policy" not in options:
        return None
    number: int = one(db, "select howdah.open_consumer('q', exclusive => %s)", (exclusive,))
    return number


def fill(db: Db, create: Create, options: dict[str, Any], exclusive: bool, each: str) -> tuple[int | None, list[str]]:
    """A queue of twenty messages, without groups or each of its own."""
    consumer = grouped(db, create, options, exclusive)
    bodies = [str(number) for number in range(1, 21)]
    headers = [Jsonb({"JMSXGroupID": body} if each == "group" else {}) for body in bodies]
    one(db, "select howdah.send_batch('q', %s::text[], headers => %s)", (bodies, headers))
    return consumer, bodies


@pytest.mark.parametrize("each", ["message", "group"])
@pytest.mark.parametrize(
    "call",
    [
        "receive('q', 1, consumer => %(consumer)s)",
        "receive('q', 3, consumer => %(consumer)s)",
        "receive_locked('q', 1, consumer => %(consumer)s)",
        "lease('q', 1, consumer => %(consumer)s)",
    ],
    ids=["receive", "receive-3", "receive-locked", "lease"],
)
@pytest.mark.parametrize(("options", "exclusive"), ALONE)
def test_after_a_rollback_the_first_message_is_the_first_again(
    db: Db, create: Create, options: dict[str, Any], exclusive: bool, call: str, each: str
) -> None:
    consumer, bodies = fill(db, create, options, exclusive, each)
    for taken in (4, 1, 7):
        with db.transaction(force_rollback=True):
            query = "select body from howdah.receive('q', %s, consumer => %s)"
            assert column(db, query, (taken, consumer)) == bodies[:taken]
        with db.transaction(force_rollback=True):
            got = column(db, f"select body from howdah.{call}", {"consumer": consumer})
        assert got == bodies[: len(got)]
        assert got


@pytest.mark.parametrize(("options", "exclusive"), ALONE)
def test_the_limit_of_groups_for_a_receive_lets_none_overtake(
    db: Db, create: Create, options: dict[str, Any], exclusive: bool
) -> None:
    """Each of 70 groups has two messages, and the server's locks are made for 64. One of lower priority comes last."""
    consumer = grouped(db, create, options, exclusive)
    bodies = [str(number) for number in range(140)]
    headers = [Jsonb({"JMSXGroupID": str(number % 70)}) for number in range(140)]
    one(db, "select howdah.send_batch('q', %s::text[], headers => %s)", (bodies, headers))
    one(db, "select howdah.send('q', 'low', priority => 0)")
    got: list[str] = []
    while some := column(db, "select body from howdah.receive('q', 100, consumer => %s)", (consumer,)):
        got += some
    assert got == [*bodies, "low"]


@pytest.mark.parametrize(("options", "exclusive"), [*ALONE[1:3], ALONE[4], pytest.param({}, False, id="many")])
def test_groups_held_up_make_no_receive_take_less_or_of_a_lower_priority(
    db: Db, create: Create, options: dict[str, Any], exclusive: bool
) -> None:
    """The groups of 70 messages wait for a redelivery: more than the server's locks are made for."""
    consumer = grouped(db, create, options, exclusive)
    bodies = [str(number) for number in range(70)]
    headers = [Jsonb({"JMSXGroupID": body}) for body in bodies]
    send = "select howdah.send_batch('q', %s::text[], headers => %s)"
    one(
        db,
        f"select count(r) from unnest(({send})) m(id), howdah.record_failure('q', m.id, 'bad', delay => '1 h') r",
        (bodies, headers),
    )
    free = [f"free {body}" for body in bodies[:9]]
    names = ["0", "a", "b", "c", "1", "a", "b", "c", "d"]
    one(db, send, (free, [Jsonb({"JMSXGroupID": name}) for name in names]))
    one(db, "select howdah.send('q', 'low', priority => 0)")
    expected = [body for body, name in zip(free, names, strict=True) if name in "abcd"]
    got = []
    with db.transaction():
        for wanted in (2, 3, 2, 2):
            got.append(column(db, "select body from howdah.receive('q', %s, consumer => %s)", (wanted, consumer)))
    assert got == [expected[:2], expected[2:5], expected[5:7], ["low"]]


@pytest.mark.parametrize("options", [{"strict_order": True}, {"delivery_policy": "single"}], ids=["strict", "single"])
@pytest.mark.parametrize("place", ["parked", "non-persistent"])
def test_where_dead_rows_gave_a_lane_a_head_what_came_back_behind_it_is_first(
    db: Db, create: Create, clock: Clock, options: dict[str, Any], place: str
) -> None:
    """Other queues look behind such a head now and then only."""
    create("q", redelivery_delay_ms=5000, **options)
    consumer = one(db, "select howdah.open_consumer('q')") if "delivery_policy" in options else None
    mode = "non-persistent" if place == "non-persistent" else "persistent"
    ids = [one(db, "select howdah.send('q', %s, delivery_mode => %s)", (body, mode)) for body in ("1", "2")]
    if place == "parked":
        for number in ids:
            one(db, "select r from howdah.record_failure('q', %s, 'bad') r", (number,))
        clock.advance(10)
    one(db, "select howdah.send('q', '3')")
    head = 2 if place == "non-persistent" else int(clock.now.timestamp() * 1_000_000)
    for search in ("head", "search"):
        to = head if search == "head" else (int(time.time() * 1000) + 1500) & 1048575
        db.execute(
            f"select setval(l.{search}, %s) from howdah.lanes l join howdah.destinations d on d.id = l.destination_id"
            " where d.name = 'q' and l.place < 2".encode(),
            (to,),
        )
    got = column(db, "select body from howdah.receive('q', 3, consumer => %s)", (consumer,))
    assert got == ["1", "2", "3"]
