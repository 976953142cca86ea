"""The fast path of shared subscriptions where it meets the slow one."""

from __future__ import annotations

import threading

import pytest
from support import Clock, Connect, Db, Message, fail, one, receive, wait_until_blocked
from topics_support import bodies, listed, publish, subscribe, topic


def test_held_messages_come_once_beside_one_that_failed(db: Db, connect: Connect) -> None:
    topic(db)
    subscribe(db, shared=True)
    old, other = connect(), connect()
    old.execute("begin")
    one(old, "select pg_current_xact_id()")  # so that the cursor passes the next transaction in part
    one(db, "select howdah.send_batch('t', array(select n::text from generate_series(1, 40) n))")
    assert len(bodies(db, n=20)) == 20
    (last,) = publish(db, "last")
    other.execute("begin")
    assert bodies(other)[-1] == "last"
    other.execute("rollback")
    fail(db, last, "t::s")
    db.execute("begin")
    assert bodies(db, verb="receive_locked") == [*map(str, range(21, 41)), "last"]
    db.execute("rollback")


def test_a_cursor_clears_notes_of_what_expired_after_it_was_consumed(db: Db, clock: Clock, connect: Connect) -> None:
    topic(db)
    subscribe(db, shared=True)
    publish(db, "first")
    other = connect()
    other.execute("begin")
    assert bodies(other) == ["first"]
    for n in range(30):
        one(db, "select howdah.send('t', %s, time_to_live => interval '10 seconds')", (str(n),))
    assert len(bodies(db)) == 30
    clock.advance(11)
    other.execute("commit")
    assert bodies(db) == []
    assert one(db, "select count(*) from howdah.acked") == 0
    assert listed(db, "delivered") == 31
    assert one(db, "select delivered from howdah.ack_cursors order by n desc limit 1") == 31


def test_the_first_failure_counts_for_a_receive_that_had_begun(db: Db, connect: Connect) -> None:
    topic(db)
    subscribe(db, shared=True, options={"max_failed_deliveries": 1, "limit_comparison": "reached"})
    (sent,) = publish(db, "m")
    one_has, waits, holds = connect(), connect(), connect()
    one_has.execute("begin")
    assert bodies(one_has) == ["m"]
    source = one(db, "select pg_get_functiondef('howdah._place_shared'::regproc)")
    db.execute(source.replace("\nbegin\n", "\nbegin perform pg_advisory_xact_lock_shared(4242);\n", 1))
    holds.execute("begin")
    holds.execute("select pg_advisory_xact_lock(4242)")
    got: list[Message] = []
    thread = threading.Thread(target=lambda: got.extend(receive(waits, "t::s")), daemon=True)
    thread.start()
    wait_until_blocked(db, waits)
    assert fail(db, sent, "t::s")[2] == "held"
    one_has.execute("rollback")
    holds.execute("rollback")
    thread.join(60)
    assert got == []


@pytest.mark.parametrize("leased", [False, True])
def test_a_message_that_expires_under_its_lease_can_be_acknowledged(db: Db, clock: Clock, *, leased: bool) -> None:
    topic(db)
    subscribe(db, shared=True)
    one(db, "select howdah.send('t', 'short', time_to_live => interval '10 seconds')")
    lease = one(db, "select lease from howdah.lease('t::s', 1, interval '1 minute')")
    clock.advance(11)
    publish(db, "long")
    if leased:
        other = one(db, "select lease from howdah.lease('t::s')")
        assert one(db, "select howdah.ack('t::s', %s)", (other,)) == 1
    else:
        assert bodies(db) == ["long"]
    assert one(db, "select howdah.ack('t::s', %s)", (lease,)) == 1
    assert bodies(db) == []
    assert one(db, "select count(*) from howdah.acked") == 0
