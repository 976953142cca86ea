"""All of a queue's features at once, against a model of a JMS queue: random steps of several sessions, with kills.

Queues: as they are created, with groups of transactions, sticky groups, each delivery policy, exclusive consumers, strict
order, limits by number and by bytes, and two at once for composite sends and wildcards. Not drawn, for they wait or are the
client's: limit_behaviour block (test_limits.py), leases by wildcard (test_receive_any.py), schedules (test_scheduling.py),
request and reply (test_temporary.py, tests/engine/test_requests.py), acknowledge modes (tests/engine/test_ack_modes.py and
test_ack_schedules.py).

HOWDAH_TEST_MODELS says how many times 40 steps. A failure prints its seed and its steps; HOWDAH_TEST_SEED repeats it and looks for the fewest.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test
from jms_machine import JmsMachine
from support import Clock


def run(dsn: str, clock: Clock, options: dict[str, Any], models: int, **more: Any) -> None:
    given = os.environ.get("HOWDAH_TEST_SEED")
    number = int(given or random.randrange(2**32))
    print(f"HOWDAH_TEST_SEED={number}")
    machine: type[JmsMachine] = type(
        "Machine",
        (JmsMachine,),
        {"dsn": dsn, "clock": clock, "options": options, "steps": Counter(), "idle": [], **more},
    )
    seed(number)(machine)
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=int(os.environ.get("HOWDAH_TEST_MODELS") or models),
            stateful_step_count=40,
            deadline=None,
            database=None,
            phases=[Phase.generate, *([Phase.shrink] if given else [])],
            suppress_health_check=list(HealthCheck),
        ),
    )
    print(dict(machine.steps))
    for connection in machine.idle:
        connection.close()


@pytest.mark.parametrize(
    "options",
    [{}, {"message_groups": "transaction"}, {"message_limit": 8, "limit_behaviour": "remove_oldest"}],
    ids=["plain", "groups", "limit"],
)
def test_whatever_sessions_do_a_queue_keeps_what_jms_promises(dsn: str, clock: Clock, options: dict[str, Any]) -> None:
    run(dsn, clock, options, 25)


@pytest.mark.parametrize(
    "options",
    [
        {"message_groups": "sticky"},
        {"delivery_policy": "failover"},
        {"delivery_policy": "single"},
        {"delivery_policy": "round_robin"},
        {},
    ],
    ids=["sticky", "failover", "single", "round-robin", "exclusive"],
)
def test_whatever_consumers_do_each_gets_what_its_turn_gives_it(
    dsn: str, clock: Clock, options: dict[str, Any]
) -> None:
    run(dsn, clock, options, 6, consumers=True)


def test_whatever_sessions_do_strict_order_is_kept(dsn: str, clock: Clock) -> None:
    run(dsn, clock, {"strict_order": True}, 6)


@pytest.mark.parametrize(
    "options",
    [
        {"byte_limit": 8000, "limit_behaviour": "remove_oldest"},
        {"message_limit": 8, "limit_behaviour": "remove_lowest_priority"},
    ],
    ids=["bytes", "priority"],
)
def test_whatever_is_sent_to_a_full_queue_what_is_to_make_room_does(
    dsn: str, clock: Clock, options: dict[str, Any]
) -> None:
    run(dsn, clock, options, 6)


def test_whatever_is_sent_to_two_queues_is_received_from_either_by_a_wildcard(dsn: str, clock: Clock) -> None:
    run(dsn, clock, {}, 6, several=True)
