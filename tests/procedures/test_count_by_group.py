"""Failures counted by message group: whoever records them, and whatever was rolled back."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest
from policy_support import CONVERSATION, Create, alter, ids, outcomes, send
from psycopg.types.json import Jsonb
from support import SYSTEM, Clock, Connect, Db, column, deliver_and_fail, fail, one, receive
from topics_support import publish, subscribe, topic

import howdah.engine


def grouped(db: Db, group: str = "g", queue: str = "q", **options: Any) -> int:
    return send(db, queue, headers=Jsonb({"JMSXGroupID": group}), **options)


def test_failures_of_all_messages_of_a_group_add_up(db: Db, create: Create) -> None:
    create(count_by="group", max_failed_deliveries=3, decided_at="receive")
    first, second, other, alone = grouped(db), grouped(db), grouped(db, "other"), send(db)
    for number in (first, second, first):
        assert fail(db, number)[2] == "returned"
    assert fail(db, other)[1] == fail(db, alone)[1] == 1
    assert [(m.message_id, m.delivery_count, m.redelivered) for m in receive(db, n=9, verb="browse")] == [
        (first, 4, True),
        (second, 4, True),
        (other, 2, True),
        (alone, 2, True),
    ]
    assert ids(db, "q", "receive") == [other, alone]
    assert ids(db, SYSTEM) == [first, second]


def test_the_count_survives_rollback_and_is_the_same_for_another_session(
    db: Db, create: Create, connect: Connect
) -> None:
    create(count_by="group", max_failed_deliveries=4)
    grouped(db)
    grouped(db)
    workers = [connect("howdah_consumer") for _ in range(2)]
    seen = [deliver_and_fail(workers[n % 2]) for n in range(4)]
    assert seen == [(1, "returned"), (2, "returned"), (3, "returned"), (4, "moved")]
    assert receive(workers[1]) == [], "its brother is at the limit too"
    assert len(ids(db, SYSTEM)) == 2


def test_a_conversation_is_a_group_unless_the_header_names_another(db: Db, create: Create) -> None:
    create(count_by="group", max_failed_deliveries=9)
    same = [
        send(db, conversation_id=CONVERSATION),
        send(db, conversation_id=CONVERSATION),
        grouped(db, str(CONVERSATION)),
        grouped(db, str(CONVERSATION), conversation_id=UUID(int=8)),
    ]
    apart = [grouped(db, conversation_id=CONVERSATION), send(db, conversation_id=UUID(int=8))]
    for number in same:
        fail(db, number)
    counts = {m.message_id: m.delivery_count for m in receive(db, n=9, verb="browse")}
    assert counts == dict.fromkeys(same, 5) | dict.fromkeys(apart, 1)


def test_a_queue_of_its_own_counts_for_itself(db: Db, create: Create) -> None:
    for queue in ("q", "r"):
        create(queue, count_by="group", max_failed_deliveries=9)
    fail(db, grouped(db))
    grouped(db, queue="r")
    assert receive(db, "r")[0].delivery_count == 1


def test_what_was_counted_by_message_counts_by_group_once_the_queue_says_so(db: Db, create: Create) -> None:
    create(max_failed_deliveries=3)
    first = grouped(db)
    grouped(db)
    fail(db, first)
    assert [m.delivery_count for m in receive(db, n=9, verb="browse")] == [2, 1]
    alter(db, count_by="group")
    assert [m.delivery_count for m in receive(db, n=9, verb="browse")] == [2, 2]
    alter(db, count_by="conversation")
    assert [m.delivery_count for m in receive(db, n=9, verb="browse")] == [2, 1]


def test_a_rejected_message_condemns_itself_only(db: Db, create: Create) -> None:
    create(count_by="group", max_failed_deliveries=3)
    first, second = grouped(db), grouped(db)
    assert fail(db, first, reject=True)[2] == "moved"
    assert [(m.message_id, m.delivery_count) for m in receive(db)] == [(second, 2)]


def test_incidents_of_a_group_can_be_cleaned_so_that_it_begins_anew(db: Db, create: Create) -> None:
    create(count_by="group", max_failed_deliveries=2, clean_incidents=True)
    first, other, second = grouped(db), grouped(db, "other"), grouped(db)
    assert [fail(db, number)[2] for number in (first, other, second)] == ["returned", "returned", "moved"]
    assert column(db, "select message_group from howdah.poison_details") == ["other"]
    assert deliver_and_fail(db) == (1, "returned"), "the first one's group begins at nothing"
    assert [(m.message_id, m.delivery_count) for m in receive(db, n=9)] == [(first, 2), (other, 2)]


def test_a_lease_that_runs_out_counts_for_the_group(db: Db, create: Create, clock: Clock) -> None:
    create(count_by="group", max_failed_deliveries=2)
    first, second = grouped(db), grouped(db)
    assert column(db, "select message_id from howdah.lease('q', 1, '1 second')") == [first]
    clock.advance(2)
    assert [(m.message_id, m.delivery_count) for m in receive(db, n=9, verb="receive")] == [(first, 2), (second, 2)]


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("count_by", ["group", "conversation"])
def test_a_subscriptions_lease_that_runs_out_counts_for_the_group_too(
    db: Db, clock: Clock, shared: bool, count_by: str
) -> None:
    topic(db)
    name = subscribe(db, shared=shared, options={"count_by": count_by, "max_failed_deliveries": 3})
    about = {"conversation_id": CONVERSATION} if count_by == "conversation" else {"headers": {"JMSXGroupID": "g"}}
    first, second = publish(db, "a", "b", **about)
    assert column(db, "select message_id from howdah.lease(%s, 1, '1 second')", (name,)) == [first]
    clock.advance(2)
    assert [(m.message_id, m.delivery_count) for m in receive(db, name, 9)] == [(first, 2), (second, 2)]


def test_leases_meet_the_groups_limit_too(db: Db, create: Create, clock: Clock) -> None:
    create(count_by="group", max_failed_deliveries=2, decided_at="receive")
    first = grouped(db)
    outcomes(db, 2)
    good = grouped(db, "good")
    assert column(db, "select message_id from howdah.lease('q', 9, '1 second')") == [good]
    assert ids(db, SYSTEM) == [first]


def test_a_group_in_order_is_disposed_of_as_a_whole_and_others_go_on(db: Db, create: Create) -> None:
    create(count_by="group", max_failed_deliveries=2, message_groups="transaction")
    poison, after, fine = grouped(db), grouped(db), grouped(db, "fine")
    for _ in range(2):
        with db.transaction(force_rollback=True):
            assert receive(db)[0].message_id == poison
        outcome = fail(db, poison)[2]
    assert outcome == "moved"
    assert ids(db, "q", "receive") == [fine]
    assert ids(db, SYSTEM) == [poison, after]


def test_a_subscription_counts_by_group(db: Db) -> None:
    one(db, "select howdah.create_topic('t')")
    name = one(db, """select howdah.subscribe('t', 's', options => '{"count_by": "group"}')""")
    shared = one(db, """select howdah.subscribe('t', 'p', shared => true, options => '{"count_by": "group"}')""")
    first, second = grouped(db, queue="t"), grouped(db, queue="t")
    for subscription in (name, shared):
        fail(db, first, subscription)
        got = receive(db, subscription, 9)
        assert [(m.message_id, m.delivery_count) for m in got] == [(first, 2), (second, 2)]


def test_a_group_of_any_length_can_fail(db: Db, create: Create) -> None:
    create(count_by="group", max_failed_deliveries=9)
    name = "".join(chr(0x4E00 + n * 7919 % 20_000) for n in range(20_000))
    fail(db, grouped(db, name))
    grouped(db, name)
    assert [m.delivery_count for m in receive(db, n=9)] == [2, 2]


def test_the_group_is_told_with_a_failure_whose_message_is_gone(db: Db, dsn: str, create: Create) -> None:
    create(count_by="group", max_failed_deliveries=9)
    gone, kept = grouped(db), grouped(db)
    with howdah.engine.connect(dsn) as connection:
        with connection.session() as session, session.transaction():
            (message,) = session.receive("q")
        incident = connection.record_failure(message, ValueError("late"))
    assert message.message_id == gone
    assert incident is not None
    assert incident.outcome == "gone"
    assert [(m.message_id, m.delivery_count) for m in receive(db)] == [(kept, 2)]


def test_readers_return_messages_of_a_group_at_least_as_often_as_its_limit_says(
    db: Db, create: Create, connect: Connect
) -> None:
    create(count_by="group", max_failed_deliveries=6, decided_at="receive")
    for _ in range(3):
        grouped(db)

    def read(connection: Db) -> int:
        calls, idle = 0, 0
        while idle < 20:
            connection.execute("begin")
            got = receive(connection)
            connection.execute("rollback" if got else "commit")
            for message in got:
                calls += 1
                fail(connection, message.message_id)
            idle = idle + 1 if not got else 0
        return calls

    with ThreadPoolExecutor(8) as threads:
        attempts = sum(threads.map(read, [connect() for _ in range(8)]))
    assert 6 <= attempts <= 6 + 8
    assert (ids(db, "q"), len(ids(db, SYSTEM))) == ([], 3)


def test_many_failures_of_one_group_are_counted_by_the_index(db: Db, create: Create) -> None:
    create(count_by="group", max_failed_deliveries=-1)
    number = grouped(db)
    db.execute(
        "insert into howdah.poison_details (message_id, recorded_at, destination_id, attempt, stage, outcome,"
        " message_group, recorded_by)"
        " select n, howdah.now(), %s, 1, 0, 'returned', 'g' || n %% 1000, 'x' from generate_series(1, 20000) n",
        (number % 1_000_000,),
    )
    db.execute("analyze howdah.poison_details")
    plan = "\n".join(
        column(
            db,
            (
                "explain (costs off) select from howdah.poison_details g where g.message_group = 'g1'"
                " and g.destination_id = %s"
            ),
            (number % 1_000_000,),
        )
    )
    assert "ix_poison_details_group" in plan
    assert fail(db, number)[1] == 1
