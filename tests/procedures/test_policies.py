"""The policy of poison messages as four systems know it: limits, comparators, delays, presets."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from policy_support import (
    DEAD_LETTER,
    Create,
    alter,
    ids,
    outcomes,
    send,
)
from support import (
    Clock,
    Db,
    all_refused,
    column,
    deliver_and_fail,
    one,
    receive,
)


@pytest.mark.behaviour("WAS-08")
def test_a_limit_lowered_at_run_time_holds_from_the_next_failure_on(db: Db, create: Create) -> None:
    create()
    send(db)
    assert deliver_and_fail(db) == (1, "returned")
    alter(db, max_failed_deliveries=2)
    assert deliver_and_fail(db) == (2, "moved")


@pytest.mark.behaviour("WAS-32")
def test_a_rollback_puts_a_message_back_before_those_behind_it(db: Db, create: Create) -> None:
    create(preset="websphere_mq")
    first, second = send(db), send(db)
    assert deliver_and_fail(db) == (1, "returned")
    assert [message.message_id for message in receive(db, n=2)] == [first, second]


@pytest.mark.behaviour("WAS-29")
def test_a_threshold_of_zero_never_moves(db: Db, create: Create) -> None:
    create(preset="websphere_mq")
    send(db)
    assert outcomes(db, 50) == ["returned"] * 50
    assert len(receive(db)) == 1


@pytest.mark.behaviour("WAS-30")
@pytest.mark.behaviour("WAS-31")
def test_ibm_mq_compares_when_it_meets_the_message_again(db: Db, create: Create) -> None:
    create(preset="websphere_mq", max_failed_deliveries=1)
    sent = send(db)
    assert outcomes(db, 1) == ["returned"]
    assert ids(db, "q") == [sent], "it lies where it was until it is met again"
    assert receive(db) == []
    assert ids(db, DEAD_LETTER) == [sent]


@pytest.mark.behaviour("AMQ-109")
@pytest.mark.behaviour("AMQ-89")
def test_activemq_delivers_one_time_and_six_more(db: Db, create: Create, clock: Clock) -> None:
    create(preset="activemq")
    sent = send(db)
    done = []
    for _ in range(7):
        done.append(deliver_and_fail(db))
        clock.advance(1)
    assert done == [(number, "delayed") for number in range(1, 7)] + [(7, "moved")]
    (dead,) = receive(db, "ActiveMQ.DLQ", 1, "browse")
    assert (dead.message_id, dead.headers) == (
        sent,
        {"dlqDeliveryFailureCause": "failed deliveries reached the limit"},
    )


def test_activemqs_limit_of_three_is_four_deliveries(db: Db, create: Create, clock: Clock) -> None:
    create("never", preset="activemq", max_failed_deliveries=0)
    sent = send(db, "never")
    assert deliver_and_fail(db, "never") == (1, "moved"), "no redelivery at all"
    assert sent in ids(db, "ActiveMQ.DLQ")
    create(preset="activemq", max_failed_deliveries=3, redelivery_delay_ms=0, initial_redelivery_delay_ms=0)
    send(db)
    assert outcomes(db, 4) == ["returned"] * 3 + ["moved"]


@pytest.mark.parametrize(
    ("options", "delays"),
    [
        ({}, [1000, 1000, 1000]),
        ({"initial_redelivery_delay_ms": 200}, [200, 1000, 1000]),
        ({"use_exponential_backoff": True}, [1000, 5000, 25000, 125000]),
        ({"use_exponential_backoff": True, "backoff_multiplier": 2, "max_redelivery_delay_ms": 3000},
         [1000, 2000, 3000, 3000]),
        ({"use_exponential_backoff": True, "max_redelivery_delay_ms": 500, "initial_redelivery_delay_ms": 200},
         [200, 1000, 1000]),
        ({"use_exponential_backoff": True, "initial_redelivery_delay_ms": 0, "redelivery_delay_ms": 10},
         [0, 10, 50, 250]),
    ],
)  # fmt: skip
def test_delays_follow_activemqs_formula(
    db: Db, create: Create, clock: Clock, options: dict[str, Any], delays: list[int]
) -> None:
    create(**{"preset": "activemq"} | options)
    send(db)
    for delay in delays:
        assert deliver_and_fail(db)[1] == ("delayed" if delay else "returned")
        if delay:
            due = one(db, "select due_at from howdah.parked")
            assert due - clock.now == timedelta(milliseconds=delay)
            clock.set(due)


def test_collision_avoidance_spreads_delays_both_ways_within_its_factor(db: Db, create: Create, clock: Clock) -> None:
    create(preset="activemq", use_collision_avoidance=True)
    seen = [
        one(
            db,
            (
                "select extract(epoch from howdah._redelivery_delay(d, 1, null))"
                " from howdah.destinations d where name = 'q'"
            ),
        )
        for _ in range(60)
    ]
    assert min(seen) < 1 < max(seen)
    assert all(0.85 <= delay <= 1.15 for delay in seen)


def test_the_table_of_presets_in_the_documentation_is_what_the_database_says(db: Db) -> None:
    text = (Path(__file__).parents[2] / "docs" / "poison.md").read_text(encoding="utf-8")
    table = text.split("<!-- presets -->\n")[1].split("<!-- end -->")[0].splitlines()[2:]
    presets = db.execute("select * from howdah.presets()").fetchall()
    rows = [[name, *("none" if value is None else str(value) for value in values)] for name, *values in presets]
    shown = [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in table]
    assert shown == [[cell.replace("True", "true").replace("False", "false") for cell in row] for row in rows]


KEPT = {
    "journal_level": "full",
    "message_limit": 9,
    "byte_limit": 999,
    "max_message_bytes": 500,
    "default_priority": 7,
    "default_time_to_live_ms": 1000,
}


def test_a_preset_leaves_what_is_no_policy_as_it_is(db: Db, create: Create) -> None:
    create("q", **KEPT)
    for preset in ("websphere", "websphere_mq", "service_broker", "activemq", "howdah"):
        alter(db, preset=preset)
        options = one(db, "select howdah.queue_options('q')")
        assert {key: options[key] for key in KEPT} == KEPT
        assert options["preset"] == preset


CONTRADICTIONS: list[dict[str, Any]] = [
    {"at_limit": "quarantine", "exception_mode": "none"},
    {"at_limit": "end_conversation", "exception_mode": "none"},
    {"preset": "service_broker", "exception_mode": "none"},
    {"backout_count": "hardened", "message_groups": "sticky"},
    {"backout_count": "hardened", "delivery_policy": "failover"},
    {"backout_count": "hardened", "count_by": "conversation"},
    {"backout_count": "hardened", "count_by": "group"},
    {"preset": "service_broker", "backout_count": "hardened"},
    {"disable_after": 1, "journal_level": "off"},
    {"exception_mode": "named"},
    {"exception_mode": "system", "exception_queue": "e"},
]


def test_a_policy_that_contradicts_itself_is_refused_before_anything_is_written(db: Db, create: Create) -> None:
    create()
    create("quarantining", at_limit="quarantine")
    create("nowhere", exception_mode="none")
    create("hardened", backout_count="hardened")
    create("grouped", count_by="group")
    calls = [
        (verb, options)
        for options in CONTRADICTIONS
        for verb in ("create_queue('new'", "alter_queue('q'", "set_policy('>'")
    ]
    calls += [
        ("alter_queue('quarantining'", {"exception_mode": "none"}),
        ("alter_queue('nowhere'", {"at_limit": "end_conversation"}),
        ("alter_queue('hardened'", {"delivery_policy": "single"}),
        ("alter_queue('hardened'", {"count_by": "conversation"}),
        ("alter_queue('grouped'", {"backout_count": "hardened"}),
    ]
    all_refused(db, [("HD004", f"select howdah.{verb}, '{json.dumps(options)}')") for verb, options in calls])
    assert column(db, "select pattern from howdah.list_policies()") == []
