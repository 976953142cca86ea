"""A late subscriber gets first what the topic's recovery policy keeps."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from support import Clock, Connect, Db, one, wait_until_blocked
from topics_support import bodies, publish, rotate, stored, subscribe, topic

RECOVERY = [
    ("none", {}, []),
    ("last_image", {}, ["e"]),
    ("retained", {}, ["c"]),
    ("fixed_count", {"recovery_amount": 2}, ["d", "e"]),
    ("fixed_count", {}, ["a", "b", "c", "d", "e"]),
    ("fixed_size", {"recovery_amount": 3}, ["c", "d", "e"]),
    ("timed", {"recovery_amount": 25_000}, ["d", "e"]),
    ("query", {"recovery_selector": "n > 1 AND n < 4"}, ["b", "c"]),
]


@pytest.mark.behaviour("AMQ-69")
@pytest.mark.parametrize("mode", ["persistent", "non-persistent"])
@pytest.mark.parametrize(("policy", "more", "expected"), RECOVERY)
def test_a_late_non_durable_subscriber_gets_first_what_the_recovery_policy_keeps(
    db: Db, clock: Clock, policy: str, more: dict[str, Any], expected: list[str], mode: str
) -> None:
    topic(db, recovery=policy, **more)
    for number, body in enumerate("abcde", 1):
        publish(db, body, headers={"n": number} | ({"retain": True} if body in "bc" else {}), delivery_mode=mode)
        clock.advance(10)
    name = subscribe(db, None, durable=False)
    durable = subscribe(db)
    publish(db, "new", delivery_mode=mode)
    assert bodies(db, name) == [*expected, "new"]
    assert bodies(db, durable) == ["new"]
    assert bodies(db, name) == []


def test_what_is_recovered_passes_through_the_subscribers_selector_and_no_local(db: Db) -> None:
    topic(db, recovery="fixed_count", recovery_amount=3)
    one(db, "select howdah.set_client_id('me')")
    publish(db, "mine", headers={"n": 1})
    one(db, "select howdah.set_client_id(null)")
    publish(db, "a", headers={"n": 1})
    publish(db, "b", headers={"n": 2})
    name = subscribe(db, None, durable=False, client_id="me", no_local=True, selector="n = 1")
    assert bodies(db, name) == ["a"]


@pytest.mark.first_case
@pytest.mark.parametrize(
    ("policy", "more", "expected"),
    [
        ("last_image", {}, ["e"]),
        ("retained", {}, ["c"]),
        ("fixed_count", {"recovery_amount": 2}, ["d", "e"]),
        ("fixed_size", {"recovery_amount": 3}, ["c", "d", "e"]),
    ],
)
def test_what_a_recovery_policy_keeps_outlives_the_turning_of_the_ring(
    db: Db, clock: Clock, policy: str, more: dict[str, Any], expected: list[str]
) -> None:
    topic(db, recovery=policy, **more)
    for body in "abcde":
        publish(db, body, headers={"retain": body in "bc"})
    for _ in range(4):
        rotate(db, clock)
    assert stored(db) == len(expected)
    assert bodies(db, subscribe(db, None, durable=False)) == expected


def test_what_is_committed_while_a_subscriber_recovers_comes_once(db: Db, connect: Connect) -> None:
    topic(db, recovery="fixed_count", recovery_amount=10)
    publish(db, "before")
    holder, joining = connect(), connect()
    with ThreadPoolExecutor() as threads:
        with holder.transaction():
            holder.execute("lock table howdah.ack_cursors in share mode")
            name = threads.submit(subscribe, joining, None, durable=False)
            wait_until_blocked(db, joining)
            publish(db, "meanwhile")
        assert bodies(db, name.result()) == ["before", "meanwhile"]
        assert bodies(db, name.result()) == []


def test_the_first_subscription_misses_what_was_sent_before_it_and_a_second_does_not(db: Db, connect: Connect) -> None:
    topic(db)
    publisher = connect()
    with publisher.transaction():
        publish(publisher, "early")
        first = subscribe(db, "first")
    with publisher.transaction():
        publish(publisher, "late")
        second = subscribe(db, "second")
    assert [bodies(db, name) for name in (first, second)] == [["late"], ["late"]]
