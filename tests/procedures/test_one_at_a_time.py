"""Queues that admit one consumer at a time: what comes back is first again, wherever it lies, and a receive begins where the living begin."""

from __future__ import annotations

from typing import Any

import pytest
from policy_support import Create
from support import Connect, Db, column, measured, one

pytestmark = pytest.mark.parametrize(
    "options",
    [{"strict_order": True}, {"delivery_policy": "single"}, {"delivery_policy": "failover"}],
    ids=["strict", "single", "failover"],
)


@pytest.fixture
def consumer(db: Db, create: Create, options: dict[str, Any]) -> int | None:
    create("q", **options)
    return one(db, "select howdah.open_consumer('q')") if "delivery_policy" in options else None


def send(db: Db, first: int, last: int, priority: int = 4) -> None:
    bodies = [str(number) for number in range(first, last + 1)]
    one(
        db,
        "select howdah.send_batch('q', %s::text[], priorities => array_fill(%s, array[%s::integer]))",
        (bodies, priority, len(bodies)),
    )


def take(db: Db, n: int, consumer: int | None) -> list[str]:
    return column(db, "select body from howdah.receive('q', %s, consumer => %s)", (n, consumer))


def test_what_comes_back_is_first_again_though_other_priorities_lie_between(db: Db, consumer: int | None) -> None:
    send(db, 1, 10)
    send(db, 11, 1500, priority=5)
    send(db, 1501, 3000)
    with db.transaction(force_rollback=True):
        assert len(take(db, 3000, consumer)) == 3000
    assert len(take(db, 1490, consumer)) == 1490
    assert take(db, 11, consumer) == [*map(str, range(1, 11)), "1501"]


def test_what_comes_back_is_first_again_though_the_last_one_went_elsewhere(
    db: Db, create: Create, consumer: int | None
) -> None:
    create("elsewhere")
    send(db, 1, 5000)
    for wanted in (5000, 10):
        with db.transaction(force_rollback=True):
            assert take(db, wanted, consumer) == [str(number) for number in range(1, wanted + 1)]
    number = one(db, "select message_id from howdah.browse('q', 10) where body = '10'")
    one(db, "select howdah.move_messages('q', array[%s::bigint], 'elsewhere')", (number,))
    assert take(db, 10, consumer) == [*map(str, range(1, 10)), "11"]


def test_what_was_consumed_costs_a_receive_nothing_though_its_transaction_wrote_something_else(
    db: Db, connect: Connect, consumer: int | None
) -> None:
    db.execute("create table written (number integer)")
    receive = "select howdah.receive('q', 1, consumer => %s)"

    def buffers() -> int:
        return int(measured(db, receive.replace("%s", "null" if consumer is None else str(consumer)))["Buffers"])

    send(db, 1, 300)
    clean = min(buffers() for _ in range(8))
    holder = connect()
    with holder.transaction():
        holder.execute("set transaction isolation level repeatable read")
        one(holder, "select count(*) from howdah.destinations")
        send(db, 301, 5000)
        while len(got := take(db, 50, consumer)) == 50:
            db.execute("begin; insert into written values (1)")
            take(db, 50, consumer)
            db.execute("commit")
        assert got == []
        send(db, 5001, 5100)
        take(db, 1, consumer)
        assert min(buffers() for _ in range(8)) <= clean + 12
