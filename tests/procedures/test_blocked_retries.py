"""A blocked message is retried at the interval of its queue or engine."""

from __future__ import annotations

from typing import Any

import pytest
from policy_support import (
    Create,
    outcomes,
    send,
)
from support import (
    Clock,
    Connect,
    Db,
    column,
    one,
    receive,
)


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
