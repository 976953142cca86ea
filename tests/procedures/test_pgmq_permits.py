"""A read of pgmq takes a permit like any receive, and gets no second one by lengthening."""

from __future__ import annotations

import threading

import pytest
from handler_limits_support import lease_of_one as lease
from handler_limits_support import take
from support import Clock, Connect, Db, column, one, refused, wait_until_blocked

from howdah.migrations import add_facade


@pytest.mark.own_database
def test_what_a_reader_of_pgmq_has_out_of_sight_counts(db: Db, dsn: str, clock: Clock) -> None:
    add_facade(dsn, "pgmq")
    one(db, "select pgmq.create('q')")
    one(db, 'select howdah.alter_queue(\'q\', \'{"max_concurrent": 2, "rate_limit": "4/1h burst 4"}\')')
    assert len(column(db, "select pgmq.send('q', '{}') from generate_series(1, 9)")) == 9
    read = "select msg_id from pgmq.read('q', 30, 5)"
    first, second = column(db, read)
    assert column(db, read) == column(db, "select msg_id from pgmq.pop('q')") == []
    assert one(db, "select leased from howdah.list_handler_limits('q')") == 2
    one(db, "select msg_id from pgmq.set_vt('q', %s, 60)", (first,))
    assert one(db, "select pgmq.delete('q', %s)", (second,))
    one(db, "select howdah.maintain_attempts()")
    assert len(column(db, read)) == 1, "deleting makes room, setting a time does not"
    clock.advance(31)
    assert len(column(db, "select msg_id from pgmq.pop('q', 5)")) == 1, "one time is over, the other was lengthened"
    clock.advance(60)
    assert column(db, read) == [], "the rate is spent: two, one and one"
    for way in ("read_grouped", "read_grouped_rr", "read_grouped_head"):
        assert refused(db, "0A000", f"select pgmq.{way}('q', 30, 1)")


LENGTHEN = "select msg_id from pgmq.set_vt('q', %s, 600)"


@pytest.fixture
def read_queue(db: Db, dsn: str) -> int:
    """A queue of pgmq for one at a time with three messages. The number of the first."""
    add_facade(dsn, "pgmq")
    one(db, "select pgmq.create('q')")
    one(db, "select howdah.alter_queue('q', '{\"max_concurrent\": 1}')")
    numbers: list[int] = column(db, "select pgmq.send('q', '{}') from generate_series(1, 3)")
    return numbers[0]


@pytest.mark.own_database
def test_a_read_that_ran_out_and_is_lengthened_takes_no_permit_from_another(
    db: Db, clock: Clock, read_queue: int
) -> None:
    read = "select msg_id from pgmq.read('q', 30, 1)"
    assert column(db, read) == [read_queue]
    clock.advance(31)
    assert column(db, LENGTHEN, (read_queue,)) == [read_queue]
    (second,) = column(db, read)
    assert one(db, "select leased from howdah.list_handler_limits('q')") == 1
    assert column(db, LENGTHEN, (second,)) == [second]
    assert column(db, read) == [], "the permit of a read that did not run out stays with it"


@pytest.mark.own_database
def test_a_lease_that_is_being_extended_keeps_its_permit_from_who_lengthens_a_read(
    db: Db, clock: Clock, connect: Connect, read_queue: int
) -> None:
    number = lease(db)
    holder = connect()
    with holder.transaction():
        one(holder, "select howdah.extend('q', %s, '1 hour')", (number,))
        clock.advance(61)
        assert column(db, LENGTHEN, (read_queue,)) == []
    assert take(db) == []


@pytest.mark.own_database
def test_a_read_that_is_being_lengthened_keeps_its_permit_from_who_lengthens_it_too(
    db: Db, clock: Clock, connect: Connect, read_queue: int
) -> None:
    column(db, "select msg_id from pgmq.read('q', 60, 1)")
    holder, other = connect(), connect()
    thread = threading.Thread(target=column, args=(other, LENGTHEN, (read_queue,)))
    with holder.transaction():
        column(holder, LENGTHEN, (read_queue,))
        clock.advance(61)
        thread.start()
        wait_until_blocked(db, other)
    thread.join()
    assert take(db) == []


@pytest.mark.own_database
def test_who_lengthens_a_read_does_not_wait_for_a_handler_that_has_its_permit(
    db: Db, clock: Clock, connect: Connect, read_queue: int
) -> None:
    column(db, "select msg_id from pgmq.read('q', 60, 1)")
    clock.advance(61)
    handler, other = connect(), connect()
    other.execute("set lock_timeout = '5s'")
    with handler.transaction():
        one(handler, "select message_id from howdah.receive_message('q', (select max(message_id) from howdah.msgs))")
        assert one(db, "select in_hand from howdah.list_handler_limits('q')") == 1
        assert column(other, LENGTHEN, (read_queue,)) == [read_queue]
        assert take(other) == []
