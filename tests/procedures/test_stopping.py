"""Messages that are held up by others, and queues that failures in a row disable."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

import pytest
from policy_support import (
    ADVISORY,
    Create,
    alter,
    ids,
    outcomes,
    send,
)
from support import (
    SYSTEM,
    Clock,
    Connect,
    Db,
    column,
    fail,
    one,
    receive,
    refused,
    wait_until_blocked,
)

Policy = dict[str, Any]

SETTLE = "select outcome from howdah.settle_failures('q', %s, %s, %s)"


def send_to(db: Db, group: str) -> int:
    sent: int = one(db, "select howdah.send('q', 'x', headers => %s)", (json.dumps({"JMSXGroupID": group}),))
    return sent


@pytest.mark.behaviour("WAS-34")
def test_in_strict_order_a_message_that_waits_or_is_in_hand_holds_up_those_behind(
    db: Db, create: Create, connect: Connect, clock: Clock
) -> None:
    create(strict_order=True, max_failed_deliveries=1, exception_mode="none")
    first, second = send(db), send(db)
    other = connect()
    with other.transaction(force_rollback=True):
        assert [message.message_id for message in receive(other)] == [first]
        assert receive(db) == [], "the first is in other hands"
    assert outcomes(db, 1) == ["blocked"]
    assert receive(db) == [], "the first waits for its retry"
    clock.advance(5)
    with db.transaction():
        assert [message.message_id for message in receive(db, n=2)] == [first, second]


def test_in_strict_order_what_a_rollback_gave_back_is_first_again_though_a_gap_of_positions_lies_behind_it(
    db: Db, create: Create, connect: Connect
) -> None:
    """Nobody has searched behind the heads for a second, as far as receives know: what is first is so without luck."""
    create(strict_order=True)
    first, second = send(db), send(db)
    with db.transaction(force_rollback=True):
        one(db, "select cardinality(howdah.send_batch('q', array_fill('x'::text, array[200])))")
    other = connect()
    with other.transaction(force_rollback=True):
        assert [message.message_id for message in receive(other, n=5)] == [first, second]
    third = send(db)
    one(
        db,
        "select setval(d.search, (extract(epoch from clock_timestamp() + interval '1 second') *"
        " 1000)::bigint & 1048575)"
        " from howdah.destinations d where d.name = 'q'",
    )
    assert [message.message_id for message in receive(db, n=1)] == [first]
    assert [message.message_id for message in receive(db, n=5)] == [second, third]


def test_in_strict_order_what_was_committed_late_is_first_again_after_a_rollback(
    db: Db, create: Create, connect: Connect
) -> None:
    """Also if it has looked for more in vain, after which nobody searches behind the heads for some milliseconds."""
    create(strict_order=True)
    late, other = connect(), connect()
    for _ in range(5):
        with late.transaction():
            first = send(late)
            with db.transaction(force_rollback=True):
                one(db, "select cardinality(howdah.send_batch('q', array_fill('x'::text, array[200])))")
            assert receive(db) == []
        with other.transaction(force_rollback=True):
            assert [message.message_id for message in receive(other)] == [first]
            assert receive(other) == []
        second = send(db)
        assert [message.message_id for message in receive(db)] == [first]
        assert [message.message_id for message in receive(db)] == [second]


def test_in_strict_order_a_quarantine_holds_up_too_and_messages_are_locked_one_by_one(
    db: Db, create: Create, clock: Clock
) -> None:
    create(strict_order=True, max_failed_deliveries=1, at_limit="quarantine", quarantine_ms=1000)
    first, second = send(db), send(db)
    assert outcomes(db, 1) == ["quarantined"]
    assert receive(db) == []
    clock.advance(1)
    with db.transaction():
        assert [message.message_id for message in receive(db, n=5, verb="receive_locked")] == [first]
        one(db, "select howdah.consume_locked('q', %s, %s, %s)", ([first], [4], [first // 1_000_000]))
        assert [message.message_id for message in receive(db, n=5, verb="receive_locked")] == [second]


@pytest.mark.parametrize("number", [1, 5])
@pytest.mark.parametrize("options", [{"strict_order": True}, {"message_groups": "transaction"}], ids=str)
def test_in_an_order_nothing_comes_behind_a_message_that_the_same_receive_quarantines(
    db: Db, create: Create, connect: Connect, clock: Clock, options: Policy, number: int
) -> None:
    create(max_failed_deliveries=1, at_limit="quarantine", quarantine_ms=1000, **options)
    sent = [send_to(db, "g") for _ in range(3)]
    with connect().transaction(force_rollback=True) as transaction:
        assert [message.message_id for message in receive(transaction.connection)] == sent[:1]
        assert fail(db, sent[0])[2] == "held"
    assert receive(db, n=number) == []
    assert one(db, "select parked_reason from howdah.parked") == "quarantine"
    clock.advance(1)
    with db.transaction():
        assert [message.message_id for message in receive(db, n=3)] == sent


@pytest.mark.parametrize("number", [1, 5])
def test_in_strict_order_nothing_comes_behind_a_lease_that_ran_out_at_the_limit(
    db: Db, create: Create, clock: Clock, number: int
) -> None:
    create(strict_order=True, max_failed_deliveries=1, at_limit="quarantine", quarantine_ms=1000)
    sent = [send(db) for _ in range(3)]
    assert one(db, "select message_id from howdah.lease('q', 1, '100 ms')") == sent[0]
    clock.advance(1)
    assert receive(db, n=number) == []
    clock.advance(1)
    with db.transaction():
        assert [message.message_id for message in receive(db, n=3)] == sent


@pytest.mark.parametrize("options", [{}, {"strict_order": True}, {"message_groups": "transaction"}], ids=str)
def test_a_receive_goes_on_behind_messages_that_it_moves_away(
    db: Db, create: Create, connect: Connect, options: Policy
) -> None:
    create(max_failed_deliveries=1, **options)
    sent = [send_to(db, "g") for _ in range(5)]
    with connect().transaction(force_rollback=True) as transaction:
        assert len(receive(transaction.connection, n=5)) == 5
        for failed in (0, 1, 3):
            assert fail(db, sent[failed])[2] == "held"
    assert [message.message_id for message in receive(db, n=9)] == [sent[2], sent[4]]
    consumed = "select unnest(message_ids) from howdah.journal where event = 'consumed' order by 1"
    assert column(db, consumed) == [sent[2], sent[4]]
    assert [message.message_id for message in receive(db, SYSTEM, n=9)] == [sent[0], sent[1], sent[3]]


def test_elsewhere_others_pass_a_blocked_message_by(db: Db, create: Create) -> None:
    create(max_failed_deliveries=1, exception_mode="none")
    send(db)
    second = send(db)
    assert outcomes(db, 1) == ["blocked"]
    assert ids(db, "q", "receive") == [second]


@pytest.mark.behaviour("SSB-03")
@pytest.mark.behaviour("SSB-04")
@pytest.mark.behaviour("SSB-05")
@pytest.mark.behaviour("SSB-06")
def test_five_failures_in_a_row_disable_the_queue_for_everybody(
    db: Db, create: Create, connect: Connect, clock: Clock
) -> None:
    create(preset="service_broker")
    first = send(db)
    listening = connect()
    listening.execute("listen howdah_events")
    assert outcomes(db, 4) == ["returned"] * 4
    healthy = send(db)
    assert len(receive(db, n=1)) == 1
    send(db)
    for _ in range(4):
        fail(db, healthy)
    assert one(db, "select count(*) from howdah.browse('q')") == 2, "a success between them, so it goes on"
    clock.advance(7)
    fail(db, healthy)
    for role in (None, "howdah_consumer"):
        refused(connect(role), "HD016", "select howdah.receive('q')")
    fail(db, healthy)
    refused(db, "HD016", "select howdah.receive('q')")
    listening.execute("select 1")
    (told,) = [json.loads(notification.payload) for notification in listening.notifies(timeout=0)]
    event = {"event": "QUEUE_DISABLED", "queue": "q", "message_id": healthy, "at": clock.now}
    assert told | {"at": datetime.fromisoformat(told["at"])} == event
    (advisory,) = receive(db, ADVISORY, 9)
    stored = json.loads(str(advisory.body))
    assert stored.pop("reason") == "5 failures in a row"
    assert (advisory.message_type, stored) == ("QUEUE_DISABLED", told)
    one(db, "select howdah.resume('q')")
    assert first not in ids(db, "q")
    fail(db, healthy)
    assert len(receive(db)) == 1, "failures in a row count from the resumption"


@pytest.mark.behaviour("SSB-07")
@pytest.mark.behaviour("SSB-08")
@pytest.mark.behaviour("SSB-09")
def test_poison_handling_can_be_switched_off_at_run_time(db: Db, create: Create) -> None:
    create(preset="service_broker", max_failed_deliveries=-1)
    assert one(db, "select howdah.queue_options('q') ->> 'poison_handling'") == "true"
    send(db)
    outcomes(db, 4)
    alter(db, poison_handling=False)
    outcomes(db, 46)
    assert len(receive(db)) == 1


def test_failures_recorded_and_settled_at_once_in_opposite_order_do_not_deadlock(
    db: Db, create: Create, connect: Connect
) -> None:
    create(disable_after=4, max_failed_deliveries=2)
    first, second = send(db), send(db)
    one_side, other_side = connect(), connect()

    def other() -> list[str]:
        with other_side.transaction():
            done = [one(other_side, SETTLE, ([second], [4], [second // 1_000_000]))]
            done += [fail(other_side, message)[2] for message in (second, first)]
        return done

    with ThreadPoolExecutor() as pool:
        with one_side.transaction():
            assert fail(one_side, first)[2] == "returned"
            running = pool.submit(other)
            wait_until_blocked(db, other_side)
            assert fail(one_side, second)[2] == "held"
            assert one(one_side, SETTLE, ([first], [4], [first // 1_000_000])) == "returned"
        assert running.result() == ["returned", "moved", "moved"]
    refused(db, "HD016", "select howdah.receive('q')")
    assert sorted(ids(db, SYSTEM)) == [first, second]


def test_a_success_of_who_received_before_the_first_failure_is_none_between_failures(
    db: Db, create: Create, connect: Connect
) -> None:
    create(disable_after=2, max_failed_deliveries=0)
    send(db)
    poison = send(db)
    slow = connect()
    with slow.transaction():
        assert len(receive(slow)) == 1
        fail(db, poison)
    fail(db, poison)
    refused(db, "HD016", "select howdah.receive('q')")
