"""The policy of poison messages as four systems know it: limits, comparators, delays, presets."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from policy_support import (
    CONVERSATION,
    DEAD_LETTER,
    Create,
    alter,
    ids,
    outcomes,
    send,
)
from psycopg.types.json import Jsonb
from support import (
    SYSTEM,
    Clock,
    Connect,
    Db,
    all_refused,
    column,
    deliver_and_fail,
    fail,
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


@pytest.mark.behaviour("WAS-14")
@pytest.mark.behaviour("WAS-15")
def test_without_exception_destination_the_engine_waits_five_seconds(db: Db, create: Create, clock: Clock) -> None:
    create(preset="websphere", exception_mode="none")
    sent = send(db)
    assert outcomes(db, 5) == ["returned"] * 4 + ["blocked"]
    assert one(db, "select destination_id = (select id from howdah.destinations where name = 'q') from howdah.parked")
    assert one(db, "select count(*) from howdah.poison_details where message_id = %s", (sent,)) == 5
    clock.advance(4.999)
    assert receive(db) == []
    clock.advance(0.001)
    (sixth,) = receive(db)
    assert (sixth.message_id, sixth.delivery_count) == (sent, 6)


@pytest.mark.behaviour("WAS-15")
@pytest.mark.parametrize("name", ["default_blocked_retry_ms", "sib.processor.blockedRetryTimeout"])
def test_the_engines_retry_interval_is_an_administrators_property(
    db: Db, create: Create, connect: Connect, clock: Clock, name: str
) -> None:
    create(max_failed_deliveries=1, exception_mode="none")
    create("own", max_failed_deliveries=1, exception_mode="none", blocked_retry_ms=100)
    one(connect("howdah_admin"), "select howdah.alter_engine(jsonb_build_object(%s::text, 7000))", (name,))
    assert one(db, "select howdah.engine_options() -> 'default_blocked_retry_ms'") == 7000
    assert column(db, "select blocked_retry_ms from howdah.list_queues() where queue in ('q', 'own') order by 1") == [
        100,
        7000,
    ]
    sent = send(db)
    assert outcomes(db, 1) == ["blocked"]
    clock.advance(6.999)
    assert receive(db) == []
    clock.advance(0.001)
    assert [message.message_id for message in receive(db)] == [sent]


@pytest.mark.behaviour("WAS-16")
@pytest.mark.behaviour("WAS-19")
@pytest.mark.parametrize(
    ("options", "seconds"),
    [
        ({"override_blocked_retry": False, "blocked_retry_ms": 100}, 5),
        ({"override_blocked_retry": True, "blocked_retry_ms": 100}, 0.1),
        ({"override_blocked_retry": True, "blocked_retry_ms": 10000}, 10),
    ],
)
def test_a_queues_own_retry_interval_needs_the_box_ticked(
    db: Db, create: Create, clock: Clock, options: dict[str, Any], seconds: float
) -> None:
    create(max_failed_deliveries=1, exception_mode="none", **options)
    send(db)
    assert outcomes(db, 1) == ["blocked"]
    clock.advance(seconds - 0.001)
    assert receive(db) == []
    clock.advance(0.001)
    assert len(receive(db)) == 1


@pytest.mark.behaviour("WAS-17")
def test_an_interval_of_minus_one_keeps_the_message_back_for_good(db: Db, create: Create, clock: Clock) -> None:
    create(max_failed_deliveries=1, exception_mode="none", override_blocked_retry=True)
    sent = send(db)
    assert outcomes(db, 1) == ["blocked"]
    clock.advance(3600)
    assert receive(db) == []
    assert one(db, "select howdah.retry('q', %s)", ([sent],)) == 1
    assert [message.message_id for message in receive(db)] == [sent]


@pytest.mark.behaviour("WAS-18")
def test_an_interval_of_zero_redelivers_at_once(db: Db, create: Create, clock: Clock) -> None:
    create(max_failed_deliveries=1, exception_mode="none", blocked_retry_ms=0)
    send(db)
    assert outcomes(db, 10) == ["blocked"] * 10


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


@pytest.mark.behaviour("SSB-19")
def test_service_broker_counts_by_conversation_and_goes_beyond_the_threshold(db: Db, create: Create) -> None:
    create(preset="service_broker", poison_handling=False)
    first, second, other = (send(db, conversation_id=UUID(int=n)) for n in (7, 7, 8))
    for message_id in (first, second, first, second, first):
        fail(db, message_id)
    with db.transaction(force_rollback=True):
        got = receive(db, n=9)
        assert [(m.message_id, m.delivery_count) for m in got] == [(first, 6), (second, 6), (other, 1)]
    fail(db, second)
    assert ids(db, "q", "receive") == [other], "six failures of the conversation are more than five"


@pytest.mark.behaviour("SSB-25")
def test_incidents_of_a_conversation_can_be_cleaned_when_it_is_over(db: Db, create: Create) -> None:
    create(count_by="conversation", max_failed_deliveries=2, clean_incidents=True)
    query = "select count(*) from howdah.poison_details where conversation_id = %s"
    send(db, conversation_id=CONVERSATION)
    assert outcomes(db, 1) == ["returned"]
    assert one(db, query, (CONVERSATION,)) == 1
    assert outcomes(db, 1) == ["moved"]
    assert one(db, query, (CONVERSATION,)) == 0
    send(db, conversation_id=CONVERSATION)
    assert deliver_and_fail(db)[1] == "returned", "it begins at nothing again"


@pytest.mark.first_case
@pytest.mark.behaviour("SSB-24")
@pytest.mark.parametrize("readers", [8, 32])
def test_readers_return_a_poison_message_at_least_as_often_as_the_threshold_says(
    db: Db, create: Create, connect: Connect, readers: int
) -> None:
    create(preset="service_broker", poison_handling=False)
    sent = send(db, conversation_id=CONVERSATION)

    def read(connection: Db) -> int:
        calls, idle = 0, 0
        while idle < 20:
            connection.execute("begin")
            got = receive(connection)
            connection.execute("rollback" if got else "commit")
            if got:
                calls += 1
                fail(connection, sent)
            idle = idle + 1 if not got else 0
        return calls

    connections = [connect() for _ in range(readers)]
    with ThreadPoolExecutor(readers) as threads:
        attempts = sum(threads.map(read, connections))
    assert 6 <= attempts <= 6 + readers
    assert ids(db, "q") == []
    assert one(db, "select count(*) from howdah.ended_conversations") == 1


@pytest.mark.parametrize("count_by", ["conversation", "group"])
@pytest.mark.parametrize("back", ["quarantine", "replay"])
def test_a_message_that_comes_back_into_its_conversation_counts_anew(
    db: Db, create: Create, clock: Clock, back: str, count_by: str
) -> None:
    create(count_by=count_by, max_failed_deliveries=2, at_limit="quarantine" if back == "quarantine" else "move")
    sent, brother = (send(db, conversation_id=CONVERSATION) for _ in range(2))
    assert outcomes(db, 2) == ["returned", "quarantined" if back == "quarantine" else "moved"]
    assert ids(db, "q", "receive") == [], "the conversation is at its limit"
    if back == "quarantine":
        clock.advance(3600)
    else:
        assert one(db, "select howdah.replay(%s, %s)", (SYSTEM, [sent])) == 1
    assert outcomes(db, 2) == ["returned", "moved"]
    assert ids(db, "q", "receive") == []
    assert sorted(ids(db, SYSTEM)) == [sent, brother]


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


@pytest.mark.first_case
@pytest.mark.parametrize("count_by", ["message", "conversation", "group"])
def test_one_message_at_a_time_is_counted_like_many_at_once(db: Db, create: Create, count_by: str) -> None:
    """The fast path skips what surely has no failure; the slow path counts for each message."""
    for queue in ("one", "many", "other"):
        create(queue, count_by=count_by, decided_at="receive", max_failed_deliveries=3)
        for body, times, conversation in [
            ("healthy", 0, None),
            ("once", 1, None),
            ("twice", 2, None),
            ("at its limit", 3, None),
            ("with a brother", 2, CONVERSATION),
            ("its brother", 0, CONVERSATION),
            ("in a conversation", 0, UUID(int=8)),
            ("earlier", 3, None),
            ("rejected", 0, None),
        ]:
            sent = send(db, queue, body, conversation_id=conversation)
            for _ in range(times):
                assert fail(db, sent, queue)[2] == "returned"
            if body == "earlier":
                db.execute("update howdah.msgs set stage = 1 where message_id = %s", (sent,))
            if body == "rejected":
                db.execute(
                    "select howdah.record_failures(%s, %s, true)",
                    (queue, Jsonb([{"message_id": sent, "reject": True}])),
                )
    seen = db.execute(
        "select howdah._is_unblamed(m.message_id, m.headers, m.conversation_id),"
        " howdah._failures(m.destination_id, m.message_id, m.stage, m.conversation_id,"
        " howdah._group(m.headers, m.conversation_id)) from howdah.msgs m"
    ).fetchall()
    assert {failures for unblamed, failures in seen if unblamed} == {0}
    assert sum(unblamed for unblamed, _ in seen) == 3
    singly = [(m.body, m.delivery_count) for _ in range(12) for m in receive(db, "one")]
    together = [(m.body, m.delivery_count) for m in receive(db, "many", 12)]
    assert singly == together
    assert dict(together) == {
        "healthy": 1,
        "once": 2,
        "twice": 3,
        "with a brother": 3,
        "its brother": 1 if count_by == "message" else 3,
        "in a conversation": 1,
        "earlier": 1,
    }
