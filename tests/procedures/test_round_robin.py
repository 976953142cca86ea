"""Under round robin each consumer gets its share of the messages in order, also when others come or go."""

from __future__ import annotations

import pytest
from consumers_support import kill, open_consumer, send, take
from policy_support import Create
from support import Connect, Db, one, wait_until


@pytest.mark.behaviour("IMQ-85")
def test_round_robin_gives_each_consumer_every_nth_message_in_order_of_registration(db: Db, create: Create) -> None:
    create("q", delivery_policy="round_robin")
    a, b, c = (open_consumer(db) for _ in range(3))
    send(db, *range(1, 10))
    assert take(db, 2, b) == ["2", "5"]
    assert take(db, 9, a) == ["1", "4", "7"]
    assert take(db, 9, c) == ["3", "6", "9"]
    assert take(db, 9, b) == ["8"]


@pytest.mark.behaviour("IMQ-86")
def test_a_backlog_is_split_evenly_between_the_consumers_that_come(db: Db, create: Create) -> None:
    create("q", delivery_policy="round_robin")
    one(db, "select cardinality(howdah.send_batch('q', array_agg(i::text))) from generate_series(1, 10000) i")
    a, b = open_consumer(db), open_consumer(db)
    counts = {a: 0, b: 0}
    for consumer in (a, a, a, b, a, a, a, b, b, b, b, b):  # at whatever speed
        counts[consumer] += len(take(db, 1000, consumer))
    assert counts == {a: 5000, b: 5000}


@pytest.mark.behaviour("IMQ-87")
def test_the_share_of_a_consumer_that_was_killed_goes_to_the_others(db: Db, create: Create, connect: Connect) -> None:
    create("q", delivery_policy="round_robin")
    doomed = connect()
    a, c = open_consumer(db), open_consumer(db)
    b = open_consumer(doomed, own_session=True)
    send(db, *range(1, 31))
    doomed.execute("begin")
    assert take(doomed, 3, b) == ["3", "6", "9"]
    assert take(db, 100, a) == [str(n) for n in range(1, 31, 3)]
    kill(db, doomed)
    shares: dict[int, set[str]] = {a: set(), c: set()}

    def share() -> int:
        for consumer, got in shares.items():
            got.update(take(db, 100, consumer))
        return sum(map(len, shares.values()))

    wait_until(lambda: share() == 20)
    assert len(shares[a] | shares[c]) == 20, "each message once"
    of_the_dead = {str(n) for n in range(3, 31, 3)}
    assert shares[a] & of_the_dead
    assert shares[c] & of_the_dead


@pytest.mark.behaviour("IMQ-88")
def test_without_redistribution_each_consumers_messages_are_in_order(db: Db, create: Create) -> None:
    create("q", delivery_policy="round_robin")
    consumers = [open_consumer(db) for _ in range(4)]
    one(db, "select cardinality(howdah.send_batch('q', array_agg(i::text order by i))) from generate_series(1, 400) i")
    for consumer in consumers:
        got: list[int] = []
        while bodies := take(db, 7, consumer):
            got += map(int, bodies)
        assert got == sorted(got)
        assert len(got) == 100


def test_a_share_follows_the_consumers_that_join(db: Db, create: Create) -> None:
    create("q", delivery_policy="round_robin")
    a = open_consumer(db)
    send(db, 1, 2)
    assert take(db, 9, a) == ["1", "2"], "alone"
    b = open_consumer(db)
    send(db, *range(3, 9))
    assert set(take(db, 9, a)) | set(take(db, 9, b)) == {str(n) for n in range(3, 9)}


def test_what_one_consumer_gave_back_in_strict_order_is_the_first_of_a_share_that_begins_then(
    db: Db, create: Create
) -> None:
    create("q", delivery_policy="round_robin", strict_order=True)
    a = open_consumer(db)
    send(db, *range(1, 7))
    with db.transaction(force_rollback=True):
        assert take(db, 2, a) == ["1", "2"], "alone"
    # The next step of the search is 1.9 s away, as it may be under load.
    db.execute(
        "select setval(d.search, howdah._pace(clock_timestamp() + interval '1.9 s') & 1048575)"
        " from howdah.destinations d where d.name = 'q'"
    )
    b = open_consumer(db)
    assert take(db, 9, a) == ["1", "3", "5"]
    assert take(db, 9, b) == ["2", "4", "6"]
