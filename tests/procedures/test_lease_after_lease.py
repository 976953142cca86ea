"""A lease that acknowledges the one before in the same call."""

from __future__ import annotations

import pytest
from lease_tables_support import lease, lying, send
from support import Clock, Connect, Db, column, one, receive, refused


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, """select howdah.create_queue('q', '{"max_failed_deliveries": 3}')""")


def next_lease(db: Db, former: int | None, queue: str = "q", n: int = 2) -> tuple[int | None, list[str]]:
    """The lease before is acknowledged in the same call."""
    rows = db.execute("select lease, body from howdah.lease(%s, %s, acknowledge => %s)", (queue, n, former)).fetchall()
    return (rows[0][0] if rows else None), [row[1] for row in rows]


def test_a_lease_may_acknowledge_the_one_before_in_the_same_call(db: Db) -> None:
    sent = send(db, "a", "b", "c")
    first, bodies = next_lease(db, None)
    assert bodies == ["a", "b"]
    with db.transaction(force_rollback=True):
        assert next_lease(db, first)[1] == ["c"]
    assert lying(db) == (2, 0, 1), "a rollback undoes both"
    second, bodies = next_lease(db, first)
    assert bodies == ["c"]
    assert next_lease(db, second) == (None, []), "acknowledged though there is nothing more"
    assert lying(db) == (0, 0, 0)
    consumed = "select message_id from howdah.audit_journal where event = 'consumed' order by message_id"
    assert column(db, consumed) == sent


def test_a_lease_that_cannot_acknowledge_the_one_before_leases_nothing(db: Db, clock: Clock, connect: Connect) -> None:
    one(db, "select howdah.create_queue('other')")
    send(db, "a", "b", "c")
    number, _ = lease(db)
    again = "select howdah.lease('{}', 1, acknowledge => {})"
    refused(db, "HD026", again.format("other", number))
    refused(db, "HD026", again.format("q", (number or 0) + 1))
    refused(db, "HD005", again.format("*", number))
    refused(db, "HD005", "select howdah.lease('q', 1, '0 s', acknowledge => %s)", (number,))
    refused(connect("howdah_producer"), "42501", again.format("q", number))
    assert lying(db) == (1, 0, 1)
    clock.advance(31)
    assert [m.body for m in receive(db, n=1)] == ["a"]
    refused(db, "HD026", again.format("q", number))
    assert lying(db)[0] == 0


def test_an_error_of_a_lease_undoes_the_acknowledgement_too_and_a_lease_that_has_nothing_left_is_refused(
    db: Db,
) -> None:
    send(db, "a", "b", "c")
    number, ids = lease(db, 2)
    again = f"select howdah.lease('q', 2, acknowledge => {number})"
    one(db, "select howdah.pause('q')")
    refused(db, "HD009", again)
    assert lying(db) == (2, 0, 1)
    assert one(db, "select consumed from howdah.queue_stats('q')") == 0
    assert one(db, "select howdah.ack('q', %s, %s)", (number, ids[:1])) == 1
    assert one(db, "select howdah.ack('q', %s)", (number,)) == 1
    one(db, "select howdah.resume('q')")
    refused(db, "HD026", again)
    assert next_lease(db, None)[1] == ["c"]
    assert one(db, "select consumed from howdah.queue_stats('q')") == 2


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ('{"strict_order": true}', ["a1", "b1", "a2", "b2", "a3"]),
        ('{"message_groups": "transaction"}', ["a1 b1", "a2 b2", "a3"]),
    ],
)
def test_batches_of_a_queue_with_an_order_come_in_it_each_acknowledged_with_the_lease_of_the_next(
    db: Db, options: str, expected: list[str]
) -> None:
    """One message a lease, or one of each group: who acknowledged some and gave back others would break the order."""
    one(db, "select howdah.alter_queue('q', %s::jsonb)", (options,))
    for body in ("a1", "b1", "a2", "b2", "a3"):
        headers = f'{{"JMSXGroupID": "{body[0]}"}}'
        one(db, "select howdah.send('q', %s, headers => %s::jsonb)", (body, headers))
    number, bodies = next_lease(db, None)
    assert lease(db) == (None, []), "held up for everybody until the batch is done with"
    batches = []
    while bodies:
        batches.append(" ".join(bodies))
        number, bodies = next_lease(db, number)
    assert batches == expected
    assert lying(db) == (0, 0, 0)
    assert one(db, "select consumed from howdah.queue_stats('q')") == 5


def test_one_reader_of_a_subscription_works_lease_after_lease(db: Db) -> None:
    one(db, "select howdah.create_topic('t')")
    one(db, "select howdah.subscribe('t', 's')")
    for body in "abc":
        one(db, "select howdah.send('t', %s)", (body,))
    first, bodies = next_lease(db, None, "t::s")
    assert bodies == ["a", "b"]
    refused(db, "HD024", "select howdah.lease('t::s')")
    assert next_lease(db, first, "t::s")[1] == ["c"]
