"""Under single and failover one consumer gets all messages, and the next one takes over when it goes."""

from __future__ import annotations

import pytest
from consumers_support import close, kill, open_consumer, send, take
from policy_support import Create
from support import Clock, Connect, Db, column, one, refused, wait_until


@pytest.mark.behaviour("IMQ-80")
def test_single_refuses_a_second_consumer(db: Db, create: Create) -> None:
    create("q", delivery_policy="single")
    first = open_consumer(db)
    refused(db, "HD033", "select howdah.open_consumer('q')")
    send(db, 1)
    refused(db, "HD032", "select howdah.receive('q')")
    assert take(db, consumer=first) == ["1"]


@pytest.mark.behaviour("IMQ-81")
@pytest.mark.behaviour("IMQ-84")
@pytest.mark.parametrize("policy", ["single", "failover"])
def test_messages_are_kept_while_nobody_is_registered_and_go_to_the_next_one(
    db: Db, create: Create, policy: str
) -> None:
    create("q", delivery_policy=policy)
    first = open_consumer(db)
    send(db, 1)
    assert take(db, consumer=first) == ["1"]
    assert close(db, first) is True
    assert close(db, first) is False, "the second call"
    send(db, 2, 3)
    refused(db, "HD032", "select howdah.receive('q', consumer => %s)", (first,))
    assert take(db, consumer=open_consumer(db)) == ["2", "3"]


@pytest.mark.behaviour("IMQ-82")
def test_under_failover_only_the_first_registered_gets_messages(db: Db, create: Create) -> None:
    create("q", delivery_policy="failover")
    a, b = open_consumer(db), open_consumer(db)
    send(db, *range(10))
    assert take(db, 5, b) == []
    assert len(take(db, 5, a)) == 5
    assert take(db, 5, b) == []
    assert column(db, "select active from howdah.list_consumers('q')") == [True, False]


@pytest.mark.behaviour("IMQ-83")
def test_when_the_primary_dies_the_next_registered_takes_over_and_nothing_is_lost(
    db: Db, create: Create, connect: Connect
) -> None:
    create("q", delivery_policy="failover")
    connections = [connect() for _ in range(3)]
    a, b, c = (open_consumer(connection, own_session=True) for connection in connections)
    send(db, 1, 2, 3)
    connections[0].execute("begin")
    assert take(connections[0], 1, a) == ["1"]
    assert take(connections[1], 1, b) == []
    kill(db, connections[0])
    got: list[str] = []

    def more(db: Db, n: int, consumer: int) -> list[str]:
        got.extend(take(db, n, consumer))
        return got

    wait_until(lambda: more(connections[1], 1, b))
    assert got == ["1"], "what the dead one had, first"
    assert take(connections[2], 1, c) == []
    kill(db, connections[1])
    wait_until(lambda: len(more(connections[2], 9, c)) == 3)
    assert got == ["1", "2", "3"]


def test_two_consumers_never_work_at_once_under_failover(
    db: Db, create: Create, connect: Connect, clock: Clock
) -> None:
    create("q", delivery_policy="failover")
    slow = connect()
    a, b = open_consumer(slow), open_consumer(db)
    send(db, 1, 2)
    slow.execute("begin")
    assert take(slow, 1, a) == ["1"]
    clock.advance(3600)
    assert take(db, 1, b) == [], "the first is silent, but in a transaction"
    slow.execute("commit")
    clock.advance(61)
    assert take(db, 1, b) == ["2"]


@pytest.mark.parametrize("policy", ["single", "failover"])
def test_what_comes_back_to_the_one_consumer_is_first_again_under_a_backlog(
    db: Db, create: Create, policy: str
) -> None:
    create("q", delivery_policy=policy)
    consumer = open_consumer(db)
    send(db, *range(200))
    for calls, wanted in ((4, 2), (3, 3), (1, 1), (2, 40), (5, 1)):
        with db.transaction(force_rollback=True):
            got = [body for _ in range(calls) for body in take(db, wanted, consumer)]
        assert got == [str(number) for number in range(calls * wanted)]
    with db.transaction(force_rollback=True):
        *_, last = column(db, "select message_id from howdah.receive('q', 40, consumer => %s)", (consumer,))
    db.execute("select howdah.record_failure('q', %s, delay => '1 minute')", (last,))
    assert take(db, 1, consumer) == ["0"], "though the last one that it had does not come back to its place"


@pytest.mark.first_case
@pytest.mark.parametrize("verb", ["release", pytest.param("retry", marks=pytest.mark.slow)])
@pytest.mark.parametrize("policy", ["single", "failover"])
def test_messages_put_back_far_behind_are_received_from_the_first_of_them_on(
    db: Db, create: Create, policy: str, verb: str
) -> None:
    create("q", delivery_policy=policy)
    consumer = open_consumer(db)
    one(
        db, "select cardinality(howdah.send_batch('q', array_agg(i::text order by i))) from generate_series(1, 10000) i"
    )
    lease = column(db, "select lease from howdah.lease('q', 3000, '1 hour', consumer => %s)", (consumer,))[0]
    if verb == "retry":
        one(db, "select count(*) from howdah.nack('q', %s::bigint, delay => '1 hour')", (lease,))
    assert [take(db, number, consumer)[0] for number in (5000, 100, 100)] == ["3001", "8001", "8101"]
    if verb == "release":
        one(db, "select howdah.release('q', %s)", (lease,))
    else:
        assert one(db, "select howdah.retry('q')") == 3000
    assert take(db, 3, consumer) == ["1", "2", "3"]
