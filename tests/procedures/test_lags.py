"""The list of subscriptions says of all at once what a look at each cursor says."""

from __future__ import annotations

from typing import Any

import pytest
from support import Clock, Connect, Db, one
from topics_support import bodies, publish, rotate, subscribe, topic

ONE_BY_ONE = """
select d.name, sum(t.behind)::bigint, sum(t.delivered)::bigint,
    extract(epoch from coalesce(howdah.now() - min(t.oldest), interval '0'))::float
from (select a.subscription_id, max(l.behind) as behind, min(l.oldest) as oldest, sum(l.delivered) as delivered
      from howdah.acks a cross join lateral howdah._lag(a) l group by a.subscription_id, a.destination_id) t
join howdah.destinations d on d.id = t.subscription_id group by d.name order by d.name
"""
LISTED = (
    "select subscription, behind, delivered, extract(epoch from behind_for)::float from howdah.list_subscriptions() l"
)


def agreed(db: Db) -> dict[str, tuple[int, int, float]]:
    listed = db.execute(LISTED.encode()).fetchall()
    assert listed == db.execute(ONE_BY_ONE.encode()).fetchall()
    return {name: (behind, delivered, age) for name, behind, delivered, age in listed}


@pytest.fixture
def names(db: Db) -> dict[str, str]:
    topic(db)
    topic(db, "u")
    kinds: dict[str, dict[str, Any]] = {
        "plain": {},
        "shared": {"shared": True},
        "ranked": {"options": {"prioritized": True}},
        "idle": {},
        "wild": {"to": ">"},
    }
    return {kind: subscribe(db, kind, **arguments) for kind, arguments in kinds.items()}


def test_nothing_unread_is_no_lag(db: Db, names: dict[str, str]) -> None:
    assert set(agreed(db).values()) == {(0, 0, 0.0)}


def test_lags_of_every_kind_of_subscription(db: Db, names: dict[str, str], clock: Clock) -> None:
    one(db, "select howdah.send_batch('t', array_fill('x'::text, array[10]))")
    clock.advance(10)
    publish(db, "y", "z", priority=7)
    publish(db, "other", to="u")
    clock.advance(5)
    for number, name in enumerate(names.values()):
        if name != names["idle"]:
            bodies(db, name, number + 1)
    with db.transaction():
        db.execute("select howdah.receive_locked(%s, 1)", (names["shared"],))
    lags = agreed(db)
    assert lags[names["plain"]] == (11, 1, 15.0)
    assert lags[names["idle"]] == (12, 0, 15.0)
    assert lags[names["wild"]][:2] == (13 - 5, 5)


def test_a_transaction_that_committed_late_counts_from_its_first_message(
    db: Db, names: dict[str, str], connect: Connect, clock: Clock
) -> None:
    late = connect()
    late.execute("begin")
    publish(late, "late 1", "late 2")
    publish(db, "a", "b")
    assert bodies(db, names["plain"]) == ["a", "b"]
    assert agreed(db)[names["plain"]][0] == 0
    clock.advance(3)
    late.execute("commit")
    assert agreed(db)[names["plain"]] == (4, 2, 3.0)
    assert bodies(db, names["plain"], 1) == ["late 1"]
    assert agreed(db)[names["plain"]][0] == 3


def test_lags_are_the_same_when_the_ring_has_turned(db: Db, names: dict[str, str], clock: Clock) -> None:
    for body in "abc":
        publish(db, body)
        rotate(db, clock)
        bodies(db, names["plain"], 1)
        agreed(db)
    publish(db, "d")
    lags = agreed(db)
    assert (lags[names["plain"]][0], lags[names["idle"]][0]) == (1, 4)


def test_only_subscriptions_of_one_topic_are_listed_with_all_their_topics(db: Db, names: dict[str, str]) -> None:
    publish(db, "a")
    publish(db, "b", to="u")
    listed = db.execute("select subscription, behind from howdah.list_subscriptions('u')").fetchall()
    assert listed == [(names["wild"], 2)]
