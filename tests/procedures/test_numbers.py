"""Numbers of destinations: those that no destination ever had are given out again."""

from __future__ import annotations

import pytest
from support import Connect, Db, column, one, receive, refused
from topics_support import bodies, publish, subscribe, topic

SEQUENCE = "pg_get_serial_sequence('howdah.destinations', 'id')"


def create(db: Db, name: str) -> int:
    made: int = one(db, "select howdah.create_queue(%s)", (name,))
    return made


def draw_until(db: Db, last: int) -> None:
    """As if the numbers up to this one had been drawn."""
    one(db, f"select setval({SEQUENCE}, %s)", (last,))


def taken(db: Db) -> list[int]:
    return column(db, "select id from howdah.destinations order by id")


def test_numbers_of_rolled_back_queues_are_given_out_again(db: Db, connect: Connect) -> None:
    consumer = connect("howdah_consumer")
    draw_until(db, 999_990)
    for _ in range(20):
        with consumer.transaction(force_rollback=True):
            one(consumer, "select howdah.create_temporary_queue()")
    assert taken(db) == [1], "the system exception destination alone"
    assert [create(db, f"q{n}") for n in range(3)] == [2, 3, 4]
    one(consumer, "select howdah.create_temporary_queue()")
    assert taken(db) == [1, 2, 3, 4, 5]
    sent = one(db, "select howdah.send('q1', 'x')")
    assert (sent, [m.message_id for m in receive(db, "q1")]) == (1_000_003, [1_000_003])


def test_the_last_number_is_given_out_and_then_the_gaps(db: Db) -> None:
    draw_until(db, 999_998)
    assert [create(db, "last"), create(db, "first"), create(db, "next")] == [999_999, 2, 3]
    assert one(db, "select howdah.send('last', 'x')") % 1_000_000 == 999_999


def test_a_number_that_an_open_transaction_has_drawn_is_passed_by(db: Db, connect: Connect) -> None:
    before, after = connect(), connect()
    with before.transaction(force_rollback=True):
        assert create(before, "drawn") == 2
        draw_until(db, 999_999)
        with after.transaction(force_rollback=True):
            assert create(after, "searched") == 3
            assert create(db, "q") == 4
    assert create(db, "r") == 2
    assert taken(db) == [1, 2, 4]


def test_a_number_committed_since_an_old_snapshot_is_passed_by(db: Db, connect: Connect) -> None:
    old = connect()
    draw_until(db, 999_999)
    with old.transaction():
        old.execute("set transaction isolation level repeatable read")
        assert taken(old) == [1]
        assert create(db, "q") == 2
        assert create(old, "r") == 3
    assert taken(db) == [1, 2, 3]


def test_a_database_has_room_for_999999_queues(db: Db) -> None:
    text = one(db, "select pg_get_functiondef('howdah._new_number()'::regprocedure)")
    small = text.replace("999999", "3")
    assert small != text
    db.execute(small.encode())
    assert [create(db, "q"), create(db, "r")] == [2, 3]
    refused(db, "HD002", "select howdah.create_queue('one-too-many')")


@pytest.mark.first_case
@pytest.mark.parametrize("verb", ["howdah.drop_queue('q')", "howdah.drop_topic('t')"])
def test_the_number_of_a_dropped_one_is_never_given_out_again(db: Db, verb: str) -> None:
    draw_until(db, 999_999)
    assert create(db, "q") == 2
    assert one(db, "select howdah.create_topic('t')") is not None
    one(db, f"select {verb}")
    assert create(db, "q2") == 4


def test_temporary_queues_leave_room_for_others(db: Db, connect: Connect) -> None:
    one(db, "select howdah.create_temporary_queue()")
    text = one(db, "select pg_get_functiondef('howdah._new_temporary()'::regprocedure)")
    db.execute(text.replace("100000", "1").encode())
    said = refused(connect("howdah_consumer"), "HD002", "select howdah.create_temporary_queue()")
    assert "100,000 temporary queues" in str(said.message_primary)
    assert create(db, "q") == 3


def test_numbers_of_consumers_and_locks_begin_anew_when_they_are_used_up(db: Db, connect: Connect) -> None:
    one(db, "select howdah.create_queue('q')")
    consumer = connect("howdah_consumer")
    opened = [one(consumer, "select howdah.open_consumer('q')") for _ in range(2)]
    one(consumer, "select howdah.acquire_lock('a', 'me')")
    for table in ("consumers", "lock"):
        one(db, f"select setval(pg_get_serial_sequence('howdah.{table}', 'id'), 2147483647)")
    again = [one(consumer, "select howdah.open_consumer('q')") for _ in range(2)]
    assert (opened, again) == ([1, 2], [3, 4]), "those that are in use are passed by"
    assert one(consumer, "select howdah.acquire_lock('b', 'me')") == 1


def test_numbers_of_cursors_and_listeners_begin_anew_when_they_are_used_up(db: Db, connect: Connect) -> None:
    consumer = connect("howdah_consumer")
    one(db, "select howdah.create_queue('q')")
    topic(db)

    def use(name: str) -> None:
        subscribe(consumer, name, options={"prioritized": True})
        consumer.execute("select howdah.ensure_listener(%s, 'q')", (name,))

    use("a")
    for table in ("acks", "listeners"):
        one(db, f"select setval(pg_get_serial_sequence('howdah.{table}', 'id'), 2147483647)")
    with consumer.transaction(force_rollback=True):
        use("gone")
    use("b")
    consumer.execute("select howdah.ensure_listener('b', 'q')")
    refused(db, "HD021", "select howdah.create_listener('b', 'q')")
    assert column(db, "select id from howdah.acks order by id") == [*range(1, 11), *range(21, 31)]
    assert column(db, "select id from howdah.listeners order by id") == [1, 3], "those that are in use are passed by"
    publish(db, "x")
    assert (bodies(consumer, "t::a"), bodies(consumer, "t::b")) == (["x"], ["x"])


def test_a_listener_with_the_number_of_an_older_one_begins_without_its_marks(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")
    db.execute("insert into howdah.listener_marks (listener_id, total_failures) values (1, 50)")
    db.execute("select howdah.create_listener('l', 'q')")
    assert column(db, "select id from howdah.listeners") == [1]
    assert column(db, "select listener_id from howdah.listener_marks") == []
