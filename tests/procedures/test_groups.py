"""A message group has one holder at a time and comes in order, for a transaction or until a consumer goes."""

from __future__ import annotations

import random
import threading
from collections import defaultdict

import psycopg
import pytest
from consumers_support import open_consumer
from groups_support import send, take
from policy_support import Create
from psycopg.types.json import Jsonb
from support import Clock, Connect, Db, column, one, wait_until

QUEUE = "select d.id from howdah.destinations d where d.name = 'q'"


@pytest.fixture
def grouped(create: Create) -> None:
    create("q", message_groups="transaction")


@pytest.mark.first_case
@pytest.mark.parametrize("number", [200, 5000])
@pytest.mark.parametrize("wanted", [1, 50])
@pytest.mark.parametrize("groups", ["transaction", "sticky"])
def test_a_batch_of_a_group_that_commits_after_others_looked_begins_with_its_first(
    db: Db, create: Create, connect: Connect, groups: str, wanted: int, number: int
) -> None:
    create("q", message_groups=groups)
    consumer = open_consumer(db) if groups == "sticky" else None
    sender = connect()
    with sender.transaction():
        one(
            sender,
            (
                "select howdah.send_batch('q', array_agg(i::text order by i), headers => array_agg(%s::jsonb))"
                " from generate_series(1, %s) i"
            ),
            (Jsonb({"JMSXGroupID": "a"}), number),
        )
        for _ in range(40):
            assert take(db, wanted, consumer) == []
    got = [int(body) for _ in range(4) for body in take(db, wanted, consumer)]
    assert got == list(range(1, 4 * wanted + 1))


@pytest.mark.slow
def test_a_queue_of_groups_is_received_from_the_short_way_again_after_delayed_messages(db: Db, grouped: None) -> None:
    one(db, "select cardinality(howdah.send_batch('q', array_fill('x'::text, array[20000]), delay => '1 us'))")
    while take(db, 5000):
        pass
    short = f"howdah._is_plain({one(db, QUEUE)}, 'transaction')"
    for _ in range(3):
        one(db, f"select {short}")
    db.execute("vacuum howdah.parked")
    assert column(db, "select howdah._hint(l.head) from howdah.lanes l") == [0], (
        "looked at from the beginning, without a head"
    )
    send(db, "a1")
    assert one(db, f"select {short}")
    assert take(db, 1) == ["a1"]


def test_a_group_is_one_transactions_at_a_time_and_others_pass_it_by(db: Db, grouped: None, connect: Connect) -> None:
    send(db, "a1", "a2", "b1", "a3", "b2")
    other = connect()
    with other.transaction():
        assert take(other, 1) == ["a1"]
        assert take(db, 1) == ["b1"], "its group is free"
        assert take(other, 1) == ["a2"], "whoever has the group goes on with it"
        assert take(db) == ["b2"]
        assert take(db) == []
    assert take(db) == ["a3"]


def test_a_group_given_back_begins_with_its_first_message_again(db: Db, grouped: None, connect: Connect) -> None:
    send(db, "a1", "a2", "a3")
    other = connect()
    with other.transaction(force_rollback=True):
        assert take(other, 2) == ["a1", "a2"]
        assert take(db) == []
    assert take(db) == ["a1", "a2", "a3"]


def test_a_conversation_is_a_group_and_messages_without_one_are_free(db: Db, grouped: None, connect: Connect) -> None:
    for body in ("1", "2"):
        one(
            db,
            "select howdah.send('q', %s, conversation_id => '11111111-1111-1111-1111-111111111111')",
            (body,),
        )
    one(db, "select howdah.send('q', 'free')")
    other = connect()
    with other.transaction():
        assert take(other, 1) == ["1"]
        assert take(db) == ["free"]
    assert take(db) == ["2"]


def test_groups_of_every_priority_and_place_are_kept_apart(
    db: Db, grouped: None, connect: Connect, clock: Clock
) -> None:
    send(db, "a1", priority=1)
    send(db, "a2", priority=9)
    send(db, "a3", delivery_mode="non-persistent")
    send(db, "b1", delay="1 second")
    other = connect()
    with other.transaction():
        assert take(other, 1) == ["a2"]
        clock.advance(2)
        assert take(db) == ["b1"]
    assert take(db) == ["a3", "a1"]


def test_a_transaction_takes_from_no_more_groups_than_the_servers_locks_are_made_for(db: Db, grouped: None) -> None:
    one(
        db,
        "select cardinality(howdah.send_batch('q', array_agg(i::text),"
        " headers => array_agg(jsonb_build_object('JMSXGroupID', i)))) from generate_series(1, 200) i",
    )
    most = int(one(db, "show max_locks_per_transaction"))
    assert len(take(db, 200)) == min(most, 200)
    taken = most
    while got := len(take(db, 200)):
        taken += got
    assert taken == 200


class Groups:
    """What several consumers did, and whether it was in order and one at a time."""

    def __init__(self) -> None:
        self.guard = threading.Lock()
        self.held: set[str] = set()
        self.done: dict[str, list[int]] = defaultdict(list)
        self.wrong: list[str] = []
        self.count = 0

    def begin(self, names: list[tuple[str, int]]) -> set[str]:
        groups = {group for group, _ in names}
        with self.guard:
            if twice := groups & self.held:
                self.wrong.append(f"two consumers have {twice}")
            self.held |= groups
        return groups

    def end(self, names: list[tuple[str, int]], groups: set[str], *, committing: bool) -> None:
        with self.guard:
            self.held -= groups
            if committing:
                self.count += len(names)
                for group, n in names:
                    if n != len(self.done[group]):
                        self.wrong.append(f"{group}{n} after {self.done[group]}")
                    self.done[group].append(n)


@pytest.mark.parametrize(
    ("kind", "seed", "number_of_groups", "sessions", "total"),
    [
        ("transaction", 11, 20, 5, 600),
        pytest.param("transaction", 12, 20, 5, 600, marks=pytest.mark.slow),
        pytest.param("transaction", 13, 20, 5, 600, marks=pytest.mark.slow),
        ("sticky", 14, 20, 5, 600),
        pytest.param("sticky", 15, 20, 5, 600, marks=pytest.mark.slow),
        pytest.param("transaction", 16, 10_000, 32, 20_000, marks=pytest.mark.slow),
        pytest.param("sticky", 17, 1_000, 16, 2_000, marks=pytest.mark.slow),
        # by 40 to 200, and without a recorded failure, after which no receive takes the fast path
        ("transaction", 18, 20, 5, 6_000),
        pytest.param("transaction", 19, 1_000, 8, 20_000, marks=pytest.mark.slow),
    ],
)
def test_order_and_exclusion_hold_under_rollbacks_failures_and_kills(
    db: Db, create: Create, connect: Connect, kind: str, seed: int, number_of_groups: int, sessions: int, total: int
) -> None:
    """Of sticky groups too, whose consumers live with their sessions, and are closed now and then."""
    create("q", message_groups=kind, max_failed_deliveries=0, redelivery_delay_ms=1)
    one(
        db,
        "select cardinality(howdah.send_batch('q', array_agg((i / %(groups)s)::text), headers => array_agg("
        " jsonb_build_object('JMSXGroupID', 'g' || i %% %(groups)s)))) from generate_series(0, %(last)s) i",
        {"groups": number_of_groups, "last": total - 1},
    )
    groups = Groups()
    many = seed >= 18
    connections = [connect() for _ in range(sessions)]
    killer = connect()

    def consume(number: int) -> None:
        chance = random.Random(seed * 100 + number)
        connection = connections[number]
        consumer = None
        while groups.count < total:
            try:
                if connection.closed:
                    connection, consumer = connect(), None
                if kind == "sticky" and consumer is None:
                    consumer = open_consumer(connection, own_session=True)
                step(connection, chance, consumer)
                if consumer is not None and chance.random() < 0.05:
                    assert one(connection, "select howdah.close_consumer(%s)", (consumer,)) is True
                    consumer = None
            except psycopg.OperationalError:
                pass

    def step(connection: Db, chance: random.Random, consumer: int | None) -> None:
        connection.execute("begin")
        rows = connection.execute(
            "select message_id, headers ->> 'JMSXGroupID', body::integer from howdah.receive('q', %s, consumer => %s)",
            (chance.choice([40, 100, 200] if many else [1, 1, 3, 10]), consumer),
        ).fetchall()
        names = [(group, n) for _, group, n in rows]
        held = groups.begin(names)
        fate = chance.random()
        # The lists are told before the transaction lets the groups go: what happens next happens after.
        groups.end(names, held, committing=fate < 0.7)
        if fate < 0.7:
            connection.execute("commit")
        elif fate < (0.95 if many else 0.85) or not rows:
            connection.execute("rollback")
        elif fate < 0.95:
            connection.execute("rollback")
            connection.execute("select howdah.record_failure('q', %s, 'bad')", (rows[0][0],))
        else:
            with groups.guard:
                killer.execute("select pg_terminate_backend(%s)", (connection.info.backend_pid,))
            connection.execute("rollback")

    threads = [threading.Thread(target=consume, args=(n,), daemon=True) for n in range(sessions)]
    for thread in threads:
        thread.start()
    wait_until(lambda: groups.count >= total or groups.wrong, 180)
    for thread in threads:
        thread.join(20)
    assert groups.wrong == [], f"seed {seed}"
    for connection in connections:
        connection.close()  # the consumers of those that are left
    assert take(db, consumer=open_consumer(db) if kind == "sticky" else None) == []


LONG = "".join(random.Random(7).choices("0123456789abcdefghijklmnopqrstuvwxyzß€𝄞", k=6000))
"""A name that no index can hold, nor after compression."""


@pytest.mark.first_case
@pytest.mark.parametrize("groups", ["transaction", "sticky"])
def test_a_group_with_a_very_long_name_is_received_leased_and_delayed_as_any_other(
    db: Db, create: Create, clock: Clock, groups: str
) -> None:
    create("q", message_groups=groups)
    consumer = open_consumer(db) if groups == "sticky" else None
    headers = Jsonb({"JMSXGroupID": LONG})
    first, *_ = [one(db, "select howdah.send('q', %s, headers => %s)", (body, headers)) for body in ("a1", "a2", "a3")]
    one(db, "select outcome from howdah.record_failure('q', %s, 'bad', delay => '10 seconds')", (first,))
    assert take(db, 9, consumer) == []
    clock.advance(11)
    lease = one(db, "select lease from howdah.lease('q', 1, '1 minute', consumer => %s)", (consumer,))
    assert one(db, "select message_group from howdah.list_groups('q')").startswith(LONG[:500])
    one(db, "select howdah.ack('q', %s)", (lease,))
    assert take(db, 9, consumer) == ["a2", "a3"]
