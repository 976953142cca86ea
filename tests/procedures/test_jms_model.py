"""All of a queue's features at once, against a model of a JMS queue: random steps of several sessions, with kills.

Queues: as they are created; with one option: groups of transactions, sticky groups, each delivery policy, exclusive
consumers, strict order, limits by number and by bytes; with some pairs of these, and with any of them at once, drawn
for each example, an exception destination for what expires among them; and two at once for composite sends and
wildcards. Not drawn: strict order with sticky groups, which contradict each other; and, for they wait or are the
client's: limit_behaviour block (test_limits.py), leases by wildcard (test_receive_any.py), schedules
(test_scheduling.py), request and reply (test_temporary.py, tests/engine/test_requests.py), acknowledge modes
(tests/engine/test_ack_modes.py and test_ack_schedules.py).

HOWDAH_TEST_MODELS says how many times 40 steps. A failure prints its seed and its steps; HOWDAH_TEST_SEED repeats it
and looks for the fewest.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import chance
import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test
from jms_machine import JmsMachine
from support import Clock


def run(
    dsn: str, clock: Clock, kinds: st.SearchStrategy[tuple[dict[str, Any], bool]], models: int, **more: Any
) -> None:
    number = chance.seed()
    machine: type[JmsMachine] = type(
        "Machine",
        (JmsMachine,),
        {"dsn": dsn, "clock": clock, "kinds": kinds, "steps": Counter(), "idle": [], **more},
    )
    seed(number)(machine)
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=int(os.environ.get("HOWDAH_TEST_MODELS") or max(2, models // 3)),
            stateful_step_count=40,
            deadline=None,
            database=None,
            phases=[Phase.generate, *([Phase.shrink] if chance.GIVEN else [])],
            suppress_health_check=list(HealthCheck),
        ),
    )
    print(dict(machine.steps))
    for connection in machine.idle:
        connection.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [{}, {"message_groups": "transaction"}, {"message_limit": 8, "limit_behaviour": "remove_oldest"}],
    ids=["plain", "groups", "limit"],
)
def test_whatever_sessions_do_a_queue_keeps_what_jms_promises(dsn: str, clock: Clock, options: dict[str, Any]) -> None:
    run(dsn, clock, st.just((options, False)), 16)


@pytest.mark.first_case
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
    run(dsn, clock, st.just((options, True)), 5)


def test_whatever_sessions_do_strict_order_is_kept(dsn: str, clock: Clock) -> None:
    run(dsn, clock, st.just(({"strict_order": True}, False)), 6)


@pytest.mark.first_case
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
    run(dsn, clock, st.just((options, False)), 6)


def test_whatever_is_sent_to_two_queues_is_received_from_either_by_a_wildcard(dsn: str, clock: Clock) -> None:
    run(dsn, clock, st.just(({}, False)), 6, several=True)


GROUPS: list[dict[str, Any]] = [{}, {"message_groups": "transaction"}, {"message_groups": "sticky"}]
POLICIES: list[dict[str, Any]] = [{}, *({"delivery_policy": name} for name in ("single", "failover", "round_robin"))]
LIMITS: list[dict[str, Any]] = [
    {},
    {"message_limit": 8, "limit_behaviour": "remove_oldest"},
    {"message_limit": 8, "limit_behaviour": "remove_lowest_priority"},
    {"byte_limit": 8000, "limit_behaviour": "remove_oldest"},
]
ORDERS: list[dict[str, Any]] = [{}, {"strict_order": True}]
EXPIRIES: list[dict[str, Any]] = [{}, {"process_expired": True}]
#: But for strict order with sticky groups: what is another consumer's waits for that, and the others pass it by.
MIXED = st.tuples(
    st.tuples(*(st.sampled_from(some) for some in (GROUPS, POLICIES, LIMITS, ORDERS, EXPIRIES)))
    .map(lambda parts: {name: value for part in parts for name, value in part.items()})
    .filter(lambda options: not (options.get("strict_order") and options.get("message_groups") == "sticky")),
    st.booleans(),
)


@pytest.mark.first_case
@pytest.mark.parametrize(
    "options",
    [
        {"strict_order": True, "message_groups": "transaction"},
        {"delivery_policy": "failover", "message_groups": "transaction"},
        {"delivery_policy": "single", "message_groups": "transaction"},
        {"strict_order": True, "delivery_policy": "failover"},
        {"message_groups": "transaction"} | LIMITS[1],
        {"message_groups": "sticky", "delivery_policy": "round_robin"} | LIMITS[2],
        {"message_groups": "transaction", "process_expired": True},
    ],
    ids=[
        "strict-groups",
        "failover-groups",
        "single-groups",
        "strict-failover",
        "limited-groups",
        "limited-turns-sticky",
        "expiring-groups",
    ],
)
def test_whatever_sessions_do_options_that_are_set_together_hold_together(
    dsn: str, clock: Clock, options: dict[str, Any]
) -> None:
    run(dsn, clock, st.tuples(st.just(options), st.booleans()), 6)


@pytest.mark.slow
def test_whatever_options_are_mixed_each_holds(dsn: str, clock: Clock) -> None:
    run(dsn, clock, MIXED, 16)
