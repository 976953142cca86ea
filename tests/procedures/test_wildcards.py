"""Policies for all queues whose names match a wildcard."""

from __future__ import annotations

from typing import Any

import pytest
from policy_support import (
    Create,
    ids,
    send,
)
from psycopg.types.json import Jsonb
from support import (
    SYSTEM,
    Db,
    deliver_and_fail,
    one,
    refused,
)


@pytest.mark.behaviour("AMQ-114")
def test_of_policies_by_wildcard_the_most_specific_one_holds(db: Db, create: Create) -> None:
    create("A.B.C")
    policies = {">": 11, "A.>": 12, "A.*": 13, "A.B": 14, "*.B.>": 15}
    for pattern, limit in policies.items():
        one(db, "select howdah.set_policy(%s, %s)", (pattern, Jsonb({"max_failed_deliveries": limit})))
    for name in ("A.B", "A.C", "A.C.D", "B", "X.B.Y"):
        create(name)
    limits: dict[str, int] = dict(
        db.execute("select queue, max_failed_deliveries from howdah.list_queues()").fetchall()
    )
    del limits[SYSTEM]
    assert limits == {"A.B": 14, "A.C": 13, "A.C.D": 12, "B": 11, "X.B.Y": 15, "A.B.C": 12}
    one(db, "select howdah.create_queue('A.own', '{\"max_failed_deliveries\": 3}')")
    assert one(db, "select howdah.queue_options('A.own') ->> 'max_failed_deliveries'") == "3"
    assert one(db, "select howdah.drop_policy('A.B')")
    assert not one(db, "select howdah.drop_policy('A.B')")
    refused(db, "HD003", "select howdah.set_policy('A.>.B', '{}')")
    refused(db, "HD004", "select howdah.set_policy('A', '{\"no\": 1}')")


@pytest.mark.first_case
@pytest.mark.parametrize(
    ("options", "dead"),
    [
        ({"exception_queue": "dead"}, "dead"),
        ({"exception_queue": "dead", "at_limit": "quarantine", "quarantine_times": 0}, "dead"),
        ({"exception_mode": "individual", "exception_prefix": "DLQ."}, "DLQ.{}"),
        ({"exception_mode": "individual"}, "ActiveMQ.DLQ.Queue.{}"),
        ({"exception_mode": "shared"}, "ActiveMQ.DLQ"),
        ({"preset": "activemq", "limit_comparison": "reached", "at_limit": "quarantine", "quarantine_times": 0},
         "ActiveMQ.DLQ"),
    ],
)  # fmt: skip
def test_a_dead_letter_queue_that_the_policy_matches_keeps_what_it_has(
    db: Db, create: Create, options: dict[str, Any], dead: str
) -> None:
    """Of queues that were there before the policy and of later ones; and the policy can be set again."""
    create("old")
    create("dead")
    policy = Jsonb(
        options | {"max_failed_deliveries": 1, "initial_redelivery_delay_ms": None, "redelivery_delay_ms": 0}
    )
    for queue in ("old", "new"):
        one(db, "select howdah.set_policy('>', %s)", (policy,))
        sent = send(db, queue)
        assert deliver_and_fail(db, queue) == (1, "moved")
        place = dead.format(queue)
        while (outcome := deliver_and_fail(db, place)[1]) == "returned":
            pass
        assert (outcome, one(db, "select (message).queue from howdah.poison_message(%s)", (sent,))) == (
            "blocked",
            place,
        )
        if queue == "old":
            create("new")


def test_the_log_queue_that_the_policy_matches_gets_one_copy(db: Db, create: Create) -> None:
    create("log")
    create()
    policy = {"max_failed_deliveries": 1, "log_queue": "log", "at_limit": "discard"}
    one(db, "select howdah.set_policy('>', %s)", (Jsonb(policy),))
    send(db)
    assert deliver_and_fail(db) == (1, "discarded")
    assert deliver_and_fail(db, "log") == (1, "blocked")
    assert one(db, "select count(*) from howdah.parked") == 1
    assert [ids(db, queue) for queue in ("q", "log", SYSTEM)] == [[], [], []]


def test_a_subscription_takes_of_a_policy_what_subscriptions_know(db: Db) -> None:
    policy = {"max_failed_deliveries": 2, "backout_count": "hardened"}
    for pattern, options in (("t", policy), ("u", {"strict_order": True})):
        one(db, "select howdah.set_policy(%s, %s)", (pattern, Jsonb(options)))
        one(db, "select howdah.create_topic(%s)", (pattern,))
    names = [one(db, "select howdah.subscribe(%s, %s)", (topic, topic)) for topic in "tu"]
    shown = [one(db, "select howdah.queue_options(%s)", (name,)) for name in names]
    assert [(o["max_failed_deliveries"], o["backout_count"], o["strict_order"]) for o in shown] == [
        (2, "recorded", False),
        (5, "recorded", False),
    ]
    send(db, "t")
    assert [deliver_and_fail(db, names[0]) for _ in range(2)] == [(1, "returned"), (2, "moved")]
