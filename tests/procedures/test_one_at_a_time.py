"""Queues that admit one consumer at a time.

What comes back is first again, wherever it lies, and a receive begins where the living begin.
"""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from policy_support import Create
from psycopg.types.json import Jsonb
from support import Connect, Db, column, measured, one, wait_until
from thinned import grid

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


@pytest.mark.first_case
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


@pytest.mark.first_case
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


@pytest.mark.first_case
@pytest.mark.parametrize("number", [200, 10_000])
def test_a_batch_that_commits_after_others_looked_begins_with_its_first(
    db: Db, connect: Connect, consumer: int | None, number: int
) -> None:
    sender = connect()
    with sender.transaction():
        send(sender, 1, number)
        for _ in range(40):
            assert take(db, 1, consumer) == []
    assert [body for _ in range(3) for body in take(db, 1, consumer)] == ["1", "2", "3"]


@pytest.mark.first_case
def test_a_batch_that_commits_behind_another_ones_comes_in_its_order(
    db: Db, connect: Connect, consumer: int | None
) -> None:
    sender = connect()
    with sender.transaction():
        send(sender, 1, 10_000)
        send(db, 10_001, 10_010)
        assert take(db, 5, consumer) == [str(number) for number in range(10_001, 10_006)]
    got: list[str] = []
    while some := take(db, 777, consumer):
        got += some
    assert [int(body) for body in got] == [*range(1, 10_001), *range(10_006, 10_011)]


@pytest.mark.first_case
def test_what_a_sender_commits_while_a_receiver_is_at_work_comes_in_its_order(
    db: Db, connect: Connect, consumer: int | None
) -> None:
    sender = connect()

    def work() -> None:
        for first in range(1, 3001, 100):
            send(sender, first, first + 99)
            time.sleep(0.005)

    thread = threading.Thread(target=work)
    thread.start()
    got: list[str] = []
    while thread.is_alive() or len(got) < 3000:
        got += take(db, 50, consumer)
    assert [int(body) for body in got] == list(range(1, 3001))


def test_a_queue_that_becomes_one_while_messages_are_in_hand_gives_them_first_when_they_come_back(
    db: Db, create: Create, connect: Connect, options: dict[str, Any]
) -> None:
    create("q")
    send(db, 1, 10_000)
    with connect().transaction(force_rollback=True) as transaction:
        assert len(take(transaction.connection, 5000, None)) == 5000
        one(db, "select howdah.alter_queue('q', %s)", (Jsonb(options),))
    consumer = one(db, "select howdah.open_consumer('q')") if "delivery_policy" in options else None
    assert take(db, 3, consumer) == ["1", "2", "3"]


def test_a_receiver_with_an_old_snapshot_has_others_pass_nothing_by(
    db: Db, connect: Connect, consumer: int | None
) -> None:
    old = connect()
    with old.transaction():
        old.execute("set transaction isolation level repeatable read")
        one(old, "select count(*) from howdah.msgs")
        send(db, 1, 1000)
        assert take(old, 1, consumer) == []
    assert [body for _ in range(3) for body in take(db, 1, consumer)] == ["1", "2", "3"]


@pytest.mark.slow
@pytest.mark.parametrize("writes", ["only elsewhere", "into the queue"])
def test_while_another_transaction_is_open_consumed_messages_cost_a_receive_nothing_unless_it_sent_some(
    db: Db, connect: Connect, consumer: int | None, writes: str
) -> None:
    writer = connect()
    with writer.transaction(force_rollback=True):
        one(writer, "select pg_current_xact_id()")
        if writes == "into the queue":
            send(writer, 0, 0)
        send(db, 1, 20_000)
        while take(db, 100, consumer):
            pass
        send(db, 1, 20)
        receive = f"select howdah.receive('q', 1, consumer => {consumer or 'null'})"
        cost = min(int(measured(db, receive)["Buffers"]) for _ in range(4))
    assert (cost > 200) is (writes == "into the queue")


@pytest.mark.first_case
@pytest.mark.parametrize(
    ("head", "mark"),
    grid([1, 9001, 10**15, 2**62], [None, 0, 1, 2**32 * 9000 + 5, 2**62 + 2**31, 2**63 - 1], every=5),
)
def test_its_hints_may_say_anything(db: Db, consumer: int | None, head: int, mark: int | None) -> None:
    send(db, 1, 9000)
    assert len(take(db, 100, consumer)) == 100
    assert len(take(db, 100, consumer)) == 100
    db.execute(
        "select setval(d.head, %s), setval(d.search, %s) from howdah.destinations d where d.name = 'q'",
        (head, 2 * 9001 << 20),
    )
    if mark is not None:
        db.execute(
            "select setval(to_regclass('howdah.mark_' || d.id), %s) from howdah.destinations d where d.name = 'q'",
            (mark,),
        )
    got: set[str] = set()

    def drained() -> bool:
        got.update(take(db, 1000, consumer))
        return len(got) == 8800

    wait_until(drained)
    send(db, 9001, 9100)
    assert take(db, 200, consumer) == [str(number) for number in range(9001, 9101)]


def test_a_mark_of_another_server_is_set_anew(db: Db, consumer: int | None) -> None:
    for first in (1, 101, 201):
        send(db, first, first + 99)
        take(db, 50, consumer)
        take(db, 50, consumer)
    name = column(db, "select 'howdah.mark_' || d.id from howdah.destinations d where d.name = 'q'")[0]
    ahead = "(pg_current_xact_id()::text::bigint + 5000000) & 4294967295"
    db.execute(f"select setval('{name}', (100::bigint << 32) | ({ahead}))".encode())
    for first in range(301, 1001, 100):
        send(db, first, first + 99)
        take(db, 50, consumer)
        take(db, 50, consumer)
    assert one(db, "select howdah._hint(d.head) from howdah.destinations d where d.name = 'q'") > 300
