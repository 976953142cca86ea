"""A full queue that removes messages makes room for new ones, and the journal says why each ended."""

from __future__ import annotations

import pytest
from full_queue_support import SEND, bodies, depth, together
from policy_support import Create
from support import SYSTEM, Clock, Connect, Db, column, fail, one, receive, refused

BEHAVIOURS = ["reject", "remove_oldest", "remove_lowest_priority", "block"]


@pytest.mark.behaviour("AMQ-70")
def test_a_message_ends_consumed_expired_or_pushed_out_and_the_journal_says_which(
    db: Db, create: Create, clock: Clock
) -> None:
    create(message_limit=2, limit_behaviour="remove_oldest", exception_mode="none", journal_level="full")
    pushed = one(db, SEND, ("pushed out",))
    consumed = one(db, SEND, ("consumed",))
    expired = one(db, "select howdah.send('q', 'expired', time_to_live => '1 second')")
    clock.advance(1)
    with db.transaction():
        assert [m.message_id for m in receive(db, n=5)] == [consumed]
    assert receive(db) == []
    ends = db.execute("select message_id, event, reason from howdah.audit_journal where event <> 'sent' order by 1")
    assert ends.fetchall() == [
        (pushed, "discarded", "OLDEST"), (consumed, "consumed", None), (expired, "expired", None)
    ]  # fmt: skip
    assert depth(db) == 0


@pytest.mark.behaviour("AMQ-70")
def test_a_queue_that_removes_the_oldest_keeps_the_newest_and_the_others_end_as_dead_ones(
    db: Db, create: Create
) -> None:
    create(message_limit=3, limit_behaviour="remove_oldest")
    for body in "abcde":
        one(db, SEND, (body,))
    assert bodies(db) == ["c", "d", "e"]
    dead = receive(db, SYSTEM, 9, verb="browse")
    assert [(m.body, m.dead_reason, m.origin_queue) for m in dead] == [("a", "OLDEST", "q"), ("b", "OLDEST", "q")]
    assert db.execute("select event, reason from howdah.audit_journal order by message_id").fetchall() == [
        ("moved", "OLDEST"), ("moved", "OLDEST")
    ]  # fmt: skip


@pytest.mark.behaviour("AMQ-70")
@pytest.mark.parametrize("policy", [{"exception_mode": "none"}, {"at_limit": "discard"}])
def test_what_makes_room_is_discarded_where_dead_messages_are_not_kept(
    db: Db, create: Create, policy: dict[str, str]
) -> None:
    create(message_limit=1, limit_behaviour="remove_oldest", **policy)
    one(db, SEND, ("a",))
    one(db, SEND, ("b",))
    assert bodies(db) == ["b"]
    assert db.execute("select event, reason from howdah.audit_journal").fetchall() == [("discarded", "OLDEST")]


def test_a_full_queue_that_removes_the_oldest_is_not_counted_for_each_message(db: Db, create: Create) -> None:
    create(message_limit=1024, limit_behaviour="remove_oldest", exception_mode="none")
    one(db, "select count(howdah.send_batch('q', array_fill('x'::text, array[1024])))")
    counts = "select (pg_sequence_last_value(d.room) >> 12) & 255 from howdah.destinations d where d.name = 'q'"
    before = one(db, counts)
    for _ in range(36):
        one(db, SEND, ("y",))
    assert depth(db) == 1024
    assert (one(db, counts) - before) % 256 == 3 * 36 / 9, "nine are removed at once, which takes three counts"


def test_a_message_that_had_expired_ends_as_expired_when_it_makes_room(db: Db, create: Create, clock: Clock) -> None:
    create(message_limit=1, limit_behaviour="remove_oldest")
    one(db, "select howdah.send('q', 'a', time_to_live => '1 second')")
    clock.advance(1)
    one(db, SEND, ("b",))
    assert column(db, "select event from howdah.audit_journal") == ["expired"]


def test_room_for_bytes_is_made_by_as_many_of_the_oldest_as_it_needs(db: Db, create: Create) -> None:
    create(byte_limit=10, limit_behaviour="remove_oldest", exception_mode="none")
    for body in ("aaa", "bbb", "cccc"):
        one(db, SEND, (body,))
    one(db, SEND, ("dddd",))
    assert bodies(db) == ["cccc", "dddd"]
    refused(db, "HD018", SEND, ("x" * 11,))
    assert bodies(db) == ["cccc", "dddd"]


def test_a_queue_that_removes_the_lowest_priority_keeps_the_higher_and_of_equals_the_newer(
    db: Db, create: Create
) -> None:
    create(message_limit=3, limit_behaviour="remove_lowest_priority")
    for body, priority in (("a", 2), ("b", 7), ("c", 2), ("d", 4)):
        one(db, "select howdah.send('q', %s, priority => %s)", (body, priority))
    assert bodies(db) == ["b", "d", "c"]
    one(db, "select howdah.send('q', 'e', priority => 9)")
    assert bodies(db) == ["e", "b", "d"]
    assert [m.dead_reason for m in receive(db, SYSTEM, 9, verb="browse")] == ["LOW_PRIORITY"] * 2


def test_a_message_of_lower_priority_than_all_there_are_does_not_push_them_out(db: Db, create: Create) -> None:
    create(message_limit=1, limit_behaviour="remove_lowest_priority")
    one(db, "select howdah.send('q', 'a', priority => 5)")
    refused(db, "HD018", "select howdah.send('q', 'b', priority => 4)")
    one(db, "select howdah.send('q', 'c', priority => 5)")
    assert bodies(db) == ["c"]


def test_what_a_consumer_or_a_lease_has_in_hand_is_not_removed(db: Db, create: Create, connect: Connect) -> None:
    create(message_limit=3, limit_behaviour="remove_oldest", exception_mode="none")
    for body in "abc":
        one(db, SEND, (body,))
    one(db, "select count(*) from howdah.lease('q', 1, '1 hour')")
    consumer = connect()
    with consumer.transaction():
        assert [m.body for m in receive(consumer)] == ["b"]
        one(db, SEND, ("d",))
        assert column(db, "select convert_from(body, 'UTF8') from howdah.msgs order by seq") == ["b", "d"]
    assert depth(db) == 2


def test_a_removal_is_undone_if_the_sender_rolls_back(db: Db, create: Create) -> None:
    create(message_limit=1, limit_behaviour="remove_oldest")
    one(db, SEND, ("a",))
    with db.transaction(force_rollback=True):
        one(db, SEND, ("b",))
        assert bodies(db) == ["b"]
    assert bodies(db) == ["a"]


@pytest.mark.slow
def test_senders_who_remove_the_oldest_at_once_are_never_refused_and_never_exceed_the_limit(
    db: Db, create: Create, connect: Connect
) -> None:
    create(message_limit=20, limit_behaviour="remove_oldest", exception_mode="none")

    def work(session: Db, number: int) -> int:
        for _ in range(15):
            one(session, SEND, ("x",))
            assert one(session, "select count(*) from howdah.msgs") <= 20
        return 15

    assert sum(together(connect, 10, work)) == 150
    assert depth(db) == 20
    assert one(db, "select discarded from howdah.queue_stats('q')") == 130


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_a_full_dead_letter_queue_makes_room_or_lets_the_fallback_take_the_message(
    db: Db, create: Create, behaviour: str
) -> None:
    create("dead", message_limit=1, limit_behaviour=behaviour, exception_mode="none")
    create(message_limit=1, limit_behaviour="remove_oldest", exception_queue="dead")
    for body in "abc":
        one(db, SEND, (body,))
    assert bodies(db) == ["c"]
    if behaviour == "remove_oldest" or behaviour == "remove_lowest_priority":
        assert (bodies(db, "dead"), bodies(db, SYSTEM)) == (["b"], [])
    else:
        assert (bodies(db, "dead"), bodies(db, SYSTEM)) == (["a"], ["b"])


@pytest.mark.parametrize("behaviour", ["reject", "block"])
def test_a_receive_waits_for_nobody_who_fills_the_dead_letter_queue(
    db: Db, create: Create, connect: Connect, behaviour: str
) -> None:
    create("dead", message_limit=2, limit_behaviour=behaviour, exception_mode="none")
    create(max_failed_deliveries=1, exception_queue="dead")
    for queue in ("dead", *"q" * 9):
        one(db, "select howdah.send(%s, 'x')", (queue,))
    other = connect()
    with other.transaction(force_rollback=True):
        for message in receive(other, n=9):
            assert fail(db, message.message_id)[2] == "held"
    with other.transaction():
        one(other, "select howdah.send('dead', 'y')")
        db.execute("set statement_timeout = '8s'")  # a wait of a second for each message would be longer
        assert receive(db, n=9) == []
    assert depth(db, "dead") + depth(db, SYSTEM) == 11
