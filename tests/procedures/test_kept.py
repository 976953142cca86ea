"""keep_bodies_ms: what was consumed stays readable for a time, and can be sent again."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from policy_support import Create
from psycopg.types.json import Jsonb
from support import (
    SYSTEM,
    Clock,
    Connect,
    Db,
    all_refused,
    column,
    deliver_and_fail,
    one,
    receive,
    refused,
    wait_until_blocked,
)

HOUR = 3_600_000
KEPT = "select message_id, body, bytes, delivery_count, headers, priority from howdah.browse_kept('q')"
IDS = "select message_id from howdah.browse_kept('q')"


def send(db: Db, queue: str = "q", **more: Any) -> int:
    given = {"body": "x", **more}
    arguments = ", ".join(f"{name} => %({name})s" for name in given)
    number: int = one(db, f"select howdah.send('{queue}', {arguments})", given)
    return number


def rows(db: Db, query: str, params: Any = None) -> list[tuple[Any, ...]]:
    return db.execute(query.encode(), params).fetchall()


def by_receive(db: Db) -> None:
    assert receive(db, n=100)


def by_one(db: Db) -> None:
    assert receive(db)


def by_selector(db: Db) -> None:
    assert rows(db, "select howdah.receive('q', 100, selector => 'a = 1')")


def by_id(db: Db) -> None:
    for number in column(db, "select message_id from howdah.audit_messages where queue = 'q'"):
        assert rows(db, "select howdah.receive_message('q', %s)", (number,))


def by_correlation(db: Db) -> None:
    assert rows(db, "select howdah.receive_correlated('q', 'c')")


def by_wildcard(db: Db) -> None:
    assert rows(db, "select howdah.receive('*', 100)")


def by_alias(db: Db) -> None:
    one(db, "select howdah.create_alias('other', 'q')")
    assert rows(db, "select howdah.receive('other', 100)")


def by_lock(db: Db) -> None:
    with db.transaction():
        held = rows(db, "select message_id, priority, position from howdah.receive_locked('q', 100)")
        assert column(db, IDS) == []
        one(db, "select howdah.consume_locked('q', %s, %s, %s)", [list(part) for part in zip(*held, strict=True)])


def by_lease(db: Db) -> None:
    leases = set(column(db, "select lease from howdah.lease('q', 100, interval '1 minute')"))
    assert column(db, IDS) == []
    for lease in leases:
        one(db, "select howdah.ack('q', %s)", (lease,))


def by_lease_of_ids(db: Db) -> None:
    for lease, number in rows(db, "select lease, message_id from howdah.lease('q', 100, interval '1 minute')"):
        assert one(db, "select howdah.ack('q', %s, %s)", (lease, [number])) == 1


def by_lease_that_ended(db: Db) -> None:
    leases = rows(db, "select lease, message_id from howdah.lease('q', 100, interval '1 minute')")
    db.execute("update howdah.leases set until = howdah.now()")
    db.execute("update howdah.parked set due_at = howdah.now() where lease_id is not null")
    for lease, number in leases:
        assert one(db, "select howdah.ack('q', %s, %s)", (lease, [number])) == 1


def by_attempt(db: Db) -> None:
    for attempt in column(db, "select attempt from howdah.begin_attempts('q', 100)"):
        assert rows(db, "select howdah.receive_attempt('q', %s)", (attempt,))


WAYS: list[Callable[[Db], None]] = [
    by_receive, by_one, by_selector, by_id, by_correlation, by_wildcard, by_alias, by_lock, by_lease, by_lease_of_ids,
    by_lease_that_ended, by_attempt,
]  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "options",
    [{}, {"persistent": False}, {"message_groups": "transaction"}, {"journal_level": "off"}, {"journal_level": "full"}],
    ids=str,
)
@pytest.mark.parametrize(
    "more",
    [{}, {"priority": 9}, {"body": "long" * 1000}, {"body": b"\x00\xff"}],
    ids=["plain", "other lane", "large", "bytes"],
)
def test_whatever_consumes_a_message_keeps_it_once_with_its_whole_body(
    db: Db, create: Create, clock: Clock, way: Callable[[Db], None], options: dict[str, Any], more: dict[str, Any]
) -> None:
    if way in (by_id, by_correlation) and "message_groups" in options:
        pytest.skip("such a queue is read in its order only")
    create(keep_bodies_ms=HOUR, **options)
    if way is by_attempt:
        one(db, "select howdah.alter_queue('q', '{\"backout_count\": \"hardened\"}')")
    given = {"body": "x", "headers": Jsonb({"a": 1, "JMSXGroupID": "g"}), "correlation_id": "c", **more}
    number = send(db, **given)
    assert column(db, IDS) == []
    way(db)
    body = given["body"]
    text, raw = (body, None) if isinstance(body, str) else (None, body)
    assert rows(db, KEPT) == [(number, text, raw, 1, {"a": 1, "JMSXGroupID": "g"}, more.get("priority", 4))]
    assert one(db, "select count(*) from howdah.bodies") == 0
    assert one(db, "select count(*) from howdah.audit_messages") == 0


def test_a_queue_keeps_nothing_unless_it_is_told_to(db: Db, create: Create) -> None:
    create()
    send(db)
    by_one(db)
    assert one(db, "select count(*) from howdah.kept_messages") == 0
    one(db, "select howdah.alter_queue('q', %s)", (Jsonb({"keep_bodies_ms": HOUR}),))
    number = send(db)
    by_one(db)
    assert column(db, IDS) == [number]
    one(db, "select howdah.alter_queue('q', '{\"keep_bodies_ms\": null}')")
    send(db)
    by_one(db)
    assert column(db, IDS) == [number]
