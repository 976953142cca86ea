"""The holder of a lease acknowledges its messages, says that they failed, or gives them back."""

from __future__ import annotations

import psycopg
import pytest
from leased_messages import lease, send
from psycopg.types.json import Jsonb
from support import Clock, Connect, Db, column, contents, one, receive, refused


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, """select howdah.create_queue('q', '{"max_failed_deliveries": 3}')""")


def test_an_acknowledgement_after_the_end_succeeds_as_long_as_nobody_else_has_the_message(
    db: Db, clock: Clock, connect: Connect
) -> None:
    sent = send(db, "a", "b")
    held = lease(db, 2, seconds=1)
    clock.advance(5)
    assert one(db, "select howdah.ack('q', %s, %s)", (held[0].lease, [sent[0]])) == 1
    with connect().transaction() as transaction:
        assert [m.message_id for m in receive(transaction.connection, "q")] == [sent[1]]
        refused(db, "HD026", "select howdah.ack('q', %s, %s)", (held[0].lease, [sent[1]]))


def test_a_negative_acknowledgement_counts_and_follows_the_policy(db: Db, clock: Clock) -> None:
    (sent,) = send(db, "a")
    (held,) = lease(db)
    nack = (
        "select message_id, attempt, outcome from howdah.nack('q', %s, error_text => 'no',"
        " delay => %s * interval '1 second')"
    )
    assert db.execute(nack.encode(), (held.lease, 60)).fetchall() == [(sent, 1, "delayed")]
    assert lease(db) == []
    clock.advance(61)
    (held,) = lease(db)
    assert held.delivery_count == 2
    assert db.execute(nack.encode(), (held.lease, 0)).fetchall() == [(sent, 2, "returned")]
    (held,) = lease(db)
    assert held.delivery_count == 3
    rejected = "select outcome from howdah.nack('q', %s, reject => true)"
    assert column(db, rejected, (held.lease,)) == ["moved"]


@pytest.mark.behaviour("AMQ-81")
@pytest.mark.parametrize("strict", [False, True], ids=["passed by", "waited for"])
def test_what_a_client_gives_back_comes_again_after_its_delay_in_the_order_of_the_policy(
    db: Db, clock: Clock, strict: bool
) -> None:
    one(db, "select howdah.alter_queue('q', %s)", (Jsonb({"strict_order": strict, "redelivery_delay_ms": 60_000}),))
    first, second, third = send(db, "a", "b", "c")
    (held,) = lease(db)
    nack = "select message_id, attempt, outcome from howdah.nack('q', %s)"
    assert db.execute(nack.encode(), (held.lease,)).fetchall() == [(first, 1, "delayed")]
    clock.advance(59)
    assert [m.message_id for m in lease(db)] == ([] if strict else [second])
    clock.advance(1)
    again = [lease(db)[0]]
    assert (again[0].message_id, again[0].delivery_count) == (first, 2)
    one(db, "select howdah.ack('q', %s)", (again[0].lease,))
    rest = [m.message_id for _ in range(2) for m in lease(db)]
    assert rest == ([second] if strict else [third]), "under strict order one message at a time"


def test_a_released_message_is_back_in_its_place_with_nobody_to_blame(db: Db) -> None:
    sent = send(db, "a", "b", "c")
    held = lease(db, 2)
    assert one(db, "select howdah.release('q', %s)", (held[0].lease,)) == 2
    messages = receive(db, "q", n=9)
    assert [m.message_id for m in messages] == sent
    assert {m.delivery_count for m in messages} == {1}


@pytest.mark.parametrize("call", ["ack('q', %s)", "nack('q', %s)", "release('q', %s)", "extend('q', %s)"])
def test_a_call_for_a_whole_lease_finds_no_message_that_a_restart_lost(db: Db, call: str) -> None:
    one(db, "select howdah.send('q', 'x', delivery_mode => 'non-persistent')")
    lease = one(db, "select lease from howdah.lease('q')")
    db.execute("update howdah.parked set boot = boot - interval '1 hour'")  # as a planned restart leaves it
    refused(db, "HD026", f"select howdah.{call}", (lease,))
    assert receive(db, "q") == []


def test_an_acknowledgement_commits_with_the_callers_work_or_not_at_all(db: Db, connect: Connect) -> None:
    (sent,) = send(db, "a")
    (held,) = lease(db)
    other = connect()
    with other.transaction(force_rollback=True):
        assert one(other, "select howdah.ack('q', %s)", (held.lease,)) == 1
    assert one(db, "select howdah.ack('q', %s, %s)", (held.lease, [sent])) == 1


def test_all_or_nothing_of_an_acknowledgement(db: Db) -> None:
    sent = send(db, "a", "b")
    (held,) = lease(db)
    before = contents(db)
    refused(db, "HD026", "select howdah.ack('q', %s, %s)", (held.lease, sent))
    refused(db, "HD026", "select howdah.ack('q', null)")
    refused(db, "HD026", "select howdah.ack('q', %s, array[null]::bigint[])", (held.lease,))
    for wrong in ("0 seconds", "-1 second", "8 days", None):
        refused(db, "HD005", "select howdah.lease('q', 1, %s::interval)", (wrong,))
    assert contents(db) == before


def test_who_may_not_receive_may_not_acknowledge(db: Db, connect: Connect) -> None:
    send(db, "a")
    (held,) = lease(db)
    producer = connect("howdah_producer")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        producer.execute("select howdah.ack('q', %s)", (held.lease,))
