"""Message groups: one holder at a time, in order, for a transaction or until a consumer goes."""

from __future__ import annotations

import os
import random
import socket
import threading
from collections import defaultdict
from typing import Any

import psycopg
import pytest
from policy_support import Create
from psycopg import sql
from psycopg.types.json import Jsonb
from support import Clock, Connect, Db, all_refused, column, one, refused, wait_until

QUEUE = "select d.id from howdah.destinations d where d.name = 'q'"


@pytest.fixture
def grouped(create: Create) -> None:
    create("q", message_groups="transaction")


@pytest.fixture
def sticky(create: Create) -> None:
    create("q", message_groups="sticky")


def send(db: Db, *names: str, **options: Any) -> list[int]:
    """Messages a1, a2, b1 of the groups a, a, b."""
    more = "".join(f", {name} => %s" for name in options)
    return [
        one(
            db,
            f"select howdah.send('q', %s, headers => %s{more})",
            (name, Jsonb({"JMSXGroupID": name[0]}), *options.values()),
        )
        for name in names
    ]


def take(db: Db, n: int = 10, consumer: int | None = None) -> list[str]:
    return column(db, "select body from howdah.receive('q', %s, consumer => %s)", (n, consumer))


def open_consumer(db: Db, **options: Any) -> int:
    names = "".join(f", {name} => %s" for name in options)
    number: int = one(db, f"select howdah.open_consumer('q'{names})", tuple(options.values()))
    return number


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
def test_what_is_sent_to_a_group_in_one_transaction_comes_in_its_order_though_others_were_received_between(
    db: Db, grouped: None, connect: Connect
) -> None:
    sender = connect()
    with sender.transaction():
        send(sender, "a1")
        for _ in range(200):
            send(db, *(f"{name}1" for name in "bcdefghijk"))
            assert len(take(db, 10)) == 10
        send(sender, "a2")
    assert take(db, 1) == ["a1"]
    assert take(db, 1) == ["a2"]


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


def test_a_message_that_waits_for_its_redelivery_holds_its_group_up_and_no_other(
    db: Db, create: Create, clock: Clock
) -> None:
    create("q", message_groups="transaction", redelivery_delay_ms=5000)
    first = send(db, "a1", "b1", "a2", "b2")[0]
    one(db, "select r from howdah.record_failure('q', %s, 'bad') r", (first,))
    assert take(db) == ["b1", "b2"]
    clock.advance(6)
    assert take(db) == ["a1", "a2"]


def test_a_message_that_waits_holds_up_what_lies_behind_it_only(db: Db, create: Create, clock: Clock) -> None:
    create("q", message_groups="transaction", redelivery_delay_ms=5000)
    third = send(db, "a1", "a2", "a3", "a4")[2]
    with db.transaction(force_rollback=True):
        assert len(take(db, 3)) == 3
    one(db, "select r from howdah.record_failure('q', %s, 'bad') r", (third,))
    assert take(db) == ["a1", "a2"]
    assert take(db) == []
    clock.advance(6)
    assert take(db) == ["a3", "a4"]


def test_a_message_that_waited_long_comes_behind_those_before_it(db: Db, create: Create, clock: Clock) -> None:
    create("q", message_groups="transaction", redelivery_delay_ms=5000)
    sent = send(db, "a1", "a2", "a3", "a4")
    one(db, "select r from howdah.record_failure('q', %s, 'bad') r", (sent[2],))
    clock.advance(1)
    one(db, "select r from howdah.record_failure('q', %s, 'bad') r", (sent[0],))
    clock.advance(9)
    got: list[str] = []
    while taken := take(db):
        got += taken
    assert got == ["a1", "a2", "a3", "a4"]


def test_a_leased_message_holds_its_group_up_until_it_is_acknowledged_or_its_lease_ends(
    db: Db, grouped: None, clock: Clock
) -> None:
    send(db, "a1", "a2", "b1", "a3")
    rows = db.execute("select lease, body from howdah.lease('q', 9, '30 seconds')").fetchall()
    assert [body for _, body in rows] == ["a1", "b1"], (
        "one message a group: what is handled in part would break the order"
    )
    assert take(db) == []
    one(
        db, "select howdah.ack('q', %s, array[(select message_id from howdah.browse('q', 1)) - 1000000])", (rows[0][0],)
    )
    assert take(db, 1) == ["a2"]
    assert one(db, "select count(*) from howdah.lease('q', 9, '30 seconds')") == 1
    clock.advance(31)
    assert take(db) == ["b1", "a3"]


@pytest.mark.parametrize("number", [1, 2, 33], ids=["one", "several", "many"])
@pytest.mark.parametrize("back", [False, True], ids=["new", "returned"])
def test_a_receive_does_not_keep_a_group_that_is_held_up_to_the_end_of_its_handler(
    db: Db, grouped: None, connect: Connect, number: int, back: bool
) -> None:
    bodies = [f"b{n}" for n in range(number)]
    send(db, "a1", "a2", *bodies)
    lease = one(db, "select lease from howdah.lease('q', 1)")
    other = connect()
    if back:
        with db.transaction(force_rollback=True):
            db.execute("select from howdah.msgs for update")
    for _ in range(20):  # one call in thirty goes another way
        with other.transaction(force_rollback=True):
            assert take(other, number) == bodies
            with db.transaction(force_rollback=True):
                one(db, "select howdah.ack('q', %s)", (lease,))
                assert take(db, 1) == ["a2"]


def test_held_messages_are_one_of_each_group(db: Db, grouped: None) -> None:
    send(db, "a1", "a2", "b1")
    with db.transaction(force_rollback=True):
        assert column(db, "select body from howdah.receive_locked('q', 9)") == ["a1", "b1"]


@pytest.mark.parametrize("verb", ["lease", "receive_locked"])
@pytest.mark.parametrize(
    "place",
    [{"delay": "1 second"}, {"priority": 9}, {"delivery_mode": "non-persistent"}],
    ids=lambda place: next(iter(place)),
)
def test_held_messages_are_one_of_each_group_though_the_others_lie_elsewhere(
    db: Db, grouped: None, clock: Clock, place: dict[str, Any], verb: str
) -> None:
    send(db, "a1", "'2", **place)
    send(db, "a3", "'4", "\\5", "c6", "\\7")
    one(db, "select howdah.send('q', 'free')")
    one(db, "select howdah.send('q', 'free', priority => 9)")
    clock.advance(2)
    with db.transaction():
        held = column(db, f"select body from howdah.{verb}('q', 20)")
    assert sorted(held) == sorted(["a1", "'2", "\\5", "c6", "free", "free"])


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


def test_turning_groups_on_takes_the_queue_from_its_beginning(db: Db, create: Create, connect: Connect) -> None:
    create()
    send(db, "a1", "a2")
    other = connect()
    other.execute("begin")
    assert take(other, 1) == ["a1"]
    assert take(db, 1) == ["a2"], "no order is promised without groups"
    other.execute("rollback")
    one(db, """select howdah.alter_queue('q', '{"message_groups": "transaction"}')""")
    assert take(db) == ["a1"]


def test_groups_do_not_go_with_hardened_counts_nor_with_subscriptions(db: Db, create: Create) -> None:
    create()
    one(db, "select howdah.create_topic('t')")
    all_refused(
        db,
        [
            (
                "HD004",
                """select howdah.create_queue('x', '{"message_groups": "sticky", "backout_count": "hardened"}')""",
            ),
            ("HD004", """select howdah.alter_queue('q', '{"message_groups": "sometimes"}')"""),
            ("HD004", """select howdah.subscribe('t', 's', 'c', options => '{"message_groups": "sticky"}')"""),
        ],
    )


def test_a_sticky_group_stays_with_its_consumer_until_that_is_closed(db: Db, sticky: None) -> None:
    one_, two = open_consumer(db), open_consumer(db)
    send(db, "a1", "b1", "a2", "b2")
    assert take(db, 1, one_) == ["a1"]
    assert take(db, 9, two) == ["b1", "b2"], "a is the other's, though it is idle"
    assert take(db, 9, two) == []
    send(db, "b3", "a3")
    assert take(db, 9, one_) == ["a2", "a3"]
    assert one(db, "select howdah.close_consumer(%s)", (two,)) is True
    assert take(db, 9, one_) == ["b3"]


def headers(db: Db, consumer: int, n: int = 1) -> list[dict[str, Any]]:
    return column(db, "select headers from howdah.receive('q', %s, consumer => %s)", (n, consumer))


def test_the_first_message_of_a_group_new_to_its_consumer_says_so(db: Db, sticky: None) -> None:
    one_, two = open_consumer(db), open_consumer(db)
    send(db, "a1", "a2", "a3")
    assert ["JMSXGroupFirstForConsumer" in h for h in headers(db, one_, 2)] == [True, False]
    one(db, "select howdah.close_consumer(%s)", (one_,))
    assert ["JMSXGroupFirstForConsumer" in h for h in headers(db, two)] == [True]


def test_the_message_behind_one_that_closed_its_group_begins_it_anew_in_one_receive_or_several(
    db: Db, sticky: None
) -> None:
    consumer = open_consumer(db)
    for at_once in (4, 1):
        for number in (1, -1, 3, 4):
            one(
                db,
                "select howdah.send('q', 'x', headers => %s)",
                (Jsonb({"JMSXGroupID": "a", "JMSXGroupSeq": number}),),
            )
        got = [headers(db, consumer, at_once) for _ in range(4 // at_once)]
        marks = ["JMSXGroupFirstForConsumer" in h for some in got for h in some]
        assert marks == [at_once == 4, False, True, False]


def test_a_negative_sequence_number_ends_the_ownership_behind_its_message(db: Db, sticky: None) -> None:
    one_, two = open_consumer(db), open_consumer(db)
    for body, number in (("1", 1), ("2", -1), ("3", 1)):
        one(
            db,
            "select howdah.send('q', %s, headers => %s)",
            (body, Jsonb({"JMSXGroupID": "a", "JMSXGroupSeq": number})),
        )
    assert take(db, 1, one_) == ["1"]
    assert take(db, 1, two) == []
    assert take(db, 1, one_) == ["2"]
    assert take(db, 1, two) == ["3"]


def test_sequence_number_one_gives_the_group_to_whoever_gets_it(db: Db, sticky: None) -> None:
    one_, two = open_consumer(db), open_consumer(db)
    send(db, "a1")
    assert take(db, 1, one_) == ["a1"]
    one(db, """select howdah.send('q', 'anew', headers => '{"JMSXGroupID": "a", "JMSXGroupSeq": 1}')""")
    send(db, "a2")
    assert take(db, 1, two) == ["anew"]
    assert take(db, 1, one_) == []
    assert take(db, 1, two) == ["a2"]


def test_a_sequence_number_that_is_none_breaks_nothing(db: Db, sticky: None) -> None:
    consumer = open_consumer(db)
    one(db, """select howdah.send('q', 'x', headers => '{"JMSXGroupID": "a", "JMSXGroupSeq": "one"}')""")
    assert take(db, 1, consumer) == ["x"]


def test_a_rolled_back_receive_gives_back_the_ownership_too(db: Db, sticky: None) -> None:
    one_, two = open_consumer(db), open_consumer(db)
    send(db, "a1")
    with db.transaction(force_rollback=True):
        assert take(db, 1, one_) == ["a1"]
    assert take(db, 1, two) == ["a1"]


def test_groups_of_a_consumer_that_fell_silent_go_to_the_others(db: Db, sticky: None, clock: Clock) -> None:
    one_, two = open_consumer(db), open_consumer(db)
    send(db, "a1", "a2")
    assert take(db, 1, one_) == ["a1"]
    clock.advance(50)
    assert take(db, 1, two) == []
    clock.advance(20)
    assert take(db, 1, two) == ["a2"]
    refused(db, "HD032", "select howdah.receive('q', consumer => %s)", (one_,))


@pytest.mark.parametrize("how", ["the server ends its session", "its process is killed"])
def test_groups_of_a_consumer_that_is_killed_move_to_another_at_once_and_in_order(
    db: Db, sticky: None, connect: Connect, clock: Clock, how: str
) -> None:
    """The clock stands still: nothing waits for a timeout."""
    doomed = connect()
    pid = doomed.info.backend_pid
    one_, two = open_consumer(doomed, own_session=True), open_consumer(db)
    send(db, "a1", "b1", "a2", "b2", "a3", "c1")
    assert take(doomed, 2, one_) == ["a1", "b1"]
    doomed.execute("begin")
    assert take(doomed, 2, one_) == ["a2", "b2"]
    assert take(db, 9, two) == ["c1"]
    if how == "its process is killed":
        with socket.socket(fileno=os.dup(doomed.fileno())) as line:
            line.shutdown(socket.SHUT_RDWR)  # all that the server hears of it
    else:
        one(db, "select pg_terminate_backend(%s)", (pid,))
    wait_until(lambda: one(db, "select count(*) = 0 from pg_stat_activity where pid = %s", (pid,)))
    send(db, "b3")
    assert take(db, 9, two) == ["a2", "b2", "a3", "b3"]
    assert column(db, "select consumer from howdah.list_consumers('q')") == [two]
    assert one(db, "select groups from howdah.list_consumers('q')") == 3


def test_a_sticky_queue_needs_a_consumer(db: Db, sticky: None) -> None:
    send(db, "a1")
    refused(db, "HD032", "select howdah.receive('q')")


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
        ("transaction", 12, 20, 5, 600),
        ("transaction", 13, 20, 5, 600),
        ("sticky", 14, 20, 5, 600),
        ("sticky", 15, 20, 5, 600),
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


def test_a_receive_ends_though_others_consume_all_that_it_saw_of_the_groups_it_got(db: Db, grouped: None) -> None:
    """Others are played by what locks the messages of a page: the first times it finds them gone."""
    groups = [str(number) for number in range(200)] * 2
    one(
        db,
        "select cardinality(howdah.send_batch('q', array_agg(g),"
        " headers => array_agg(jsonb_build_object('JMSXGroupID', g))))"
        " from unnest(%s::text[]) g",
        (groups,),
    )
    one(db, "select nextval(d.failing) from howdah.destinations d where d.name = 'q'")  # not the fast path
    source = one(db, "select prosrc from pg_proc where oid = 'howdah._walk_lock'::regproc")
    db.execute("create sequence seen")
    db.execute("grant usage on sequence seen to public")
    beaten = """
        if nextval('public.seen') <= 8 then
            delete from howdah.msgs m where m.destination_id = p_lane.destination_id and m.seq = any (p_keys);
            return '{}';
        end if;
    """
    db.execute(
        sql.SQL(
            "create or replace function howdah._walk_lock(p_lane howdah.lanes, p_keys bigint[],"
            " p_want integer, p_now timestamptz)"
            " returns bigint[] language plpgsql volatile as {}"
        ).format(sql.Literal(source.replace("begin", f"begin {beaten}", 1)))
    )
    db.execute("set statement_timeout = '30s'")
    # One receive in thirty takes the slow path, which locks the messages of a page: the one that random() sends there.
    for seed in range(1000):
        one(db, "select setseed(%s)", (seed / 1000,))
        if one(db, "select random()") >= 0.97:
            one(db, "select setseed(%s)", (seed / 1000,))
            break
    got = take(db, 10)
    assert one(db, "select last_value from seen") > 1
    assert len(got) in range(1, 11)
    assert len(set(got)) == len(got)
    one(db, "select setval('seen', 100)")
    left = column(db, "select body from howdah.browse('q', 1000)")
    assert [message for _ in range(60) for message in take(db, 10)] == left, "what is left comes in order"


@pytest.mark.first_case
@pytest.mark.parametrize("groups", ["transaction", "sticky"])
@pytest.mark.parametrize("given_back", ["release('q', %s)", "nack('q', %s)", "retry('q', array[%s])"])
def test_a_message_given_back_comes_before_those_of_its_group_though_others_looked_before_the_commit(
    db: Db, create: Create, connect: Connect, given_back: str, groups: str
) -> None:
    create("q", message_groups=groups)
    consumer = open_consumer(db) if groups == "sticky" else None
    other = connect()
    (first,) = send(db, "a1")
    send(db, *(f"{chr(98 + i % 20)}{i}" for i in range(40)))
    send(db, "a2")
    if "retry" in given_back:
        one(db, "select outcome from howdah.record_failure('q', %s, 'bad', delay => '1 hour')", (first,))
        number = first
    else:
        number = one(db, "select lease from howdah.lease('q', 1, '1 hour', consumer => %s)", (consumer,))
    for _ in range(20):
        take(other, 10, consumer)
    with db.transaction():
        db.execute(f"select howdah.{given_back}", (number,))
        for _ in range(20):
            assert take(other, 10, consumer) == []
    got: list[str] = []
    for _ in range(20):
        got += take(other, 1, consumer)
    assert got == ["a1", "a2"]


def test_a_lease_of_before_groups_were_switched_on_holds_up_its_group_once_it_has_ended(
    db: Db, create: Create, clock: Clock
) -> None:
    create("q")
    send(db, "a1", "b1", "a2")
    assert column(db, "select body from howdah.lease('q', 1, '30 seconds')") == ["a1"]
    one(db, "select howdah.alter_queue('q', '{\"message_groups\": \"transaction\"}')")
    clock.advance(31)
    assert take(db) == ["a1", "b1", "a2"]


def test_a_due_message_waits_for_those_of_its_group_though_the_head_is_of_before_groups_were_switched_on(
    db: Db, create: Create, clock: Clock
) -> None:
    create("q")
    sent = send(db, "a1", "a2", "a3")
    with db.transaction(force_rollback=True):
        assert take(db, 1) + take(db, 1) == ["a1", "a2"]
    one(db, "select howdah.alter_queue('q', '{\"message_groups\": \"transaction\"}')")
    one(db, "select outcome from howdah.record_failure('q', %s, 'bad', delay => '10 seconds')", (sent[2],))
    clock.advance(11)
    assert take(db, 1) == ["a1"]
    assert take(db) + take(db) == ["a2", "a3"]


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


def test_a_message_whose_delay_is_over_waits_for_none_that_its_consumers_selector_excludes(
    db: Db, grouped: None, clock: Clock
) -> None:
    for body, colour in (("a1", "red"), ("a2", "blue"), ("a3", "blue")):
        one(
            db,
            "select howdah.send('q', %s, headers => %s)",
            (body, Jsonb({"JMSXGroupID": "a", "colour": colour})),
        )
    second = one(db, "select message_id from howdah.browse('q', selector => 'colour = ''blue''') limit 1")
    one(db, "select outcome from howdah.record_failure('q', %s, 'bad', delay => '10 seconds')", (second,))
    blue = "select body from howdah.receive('q', 1, selector => 'colour = ''blue''')"
    assert column(db, blue) == []
    clock.advance(11)
    assert column(db, "select body from howdah.receive('q', 1, selector => 'colour = ''green''')") == []
    assert column(db, blue) + column(db, blue) == ["a2", "a3"]
    assert take(db) == ["a1"]


@pytest.mark.parametrize(
    ("tail", "position"),
    [(1000, 1000), (1000, 1), (2**31 + 5, 2**31 - 1), (2**31 + 5, 2**31 + 5), (2**33 + 7, 2**33 - 9)],
)
def test_a_mark_tells_its_position_from_the_lower_half_of_it(db: Db, grouped: None, tail: int, position: int) -> None:
    positions = one(db, "select positions::text from howdah.destinations where name = 'q'")
    db.execute("select setval(%s, %s)", (positions, tail))
    mark = (position & 2147483647) << 32 | 77
    assert one(db, "select howdah._mark_position(%s, %s::regclass)", (mark, positions)) == position


def test_a_message_is_given_back_though_another_session_marks_a_position_drawn_since(db: Db, grouped: None) -> None:
    """A mark may hold a later position than the last one that this transaction has seen."""
    send(db, "a1", "a2")
    lease = one(db, "select lease from howdah.lease('q', 1)")
    mark = f"howdah.mark_{one(db, QUEUE)}"
    xid = one(db, "select pg_snapshot_xmax(pg_current_snapshot())::text::bigint")
    db.execute("select setval(%s, %s)", (mark, 7 << 32 | xid + 1000))
    one(db, "select howdah.release('q', %s)", (lease,))
    db.execute("select setval(%s, %s)", (mark, 7 << 32 | xid))
    assert take(db) == ["a1", "a2"]
