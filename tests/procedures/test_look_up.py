"""Looking for messages by number, correlation id or selector, and taking them so."""

from __future__ import annotations

import pytest
from policy_support import Create
from support import SYSTEM, Clock, Connect, Db, column, contents, deliver_and_fail, fail, one, receive, refused


def send(db: Db, body: str = "x", correlation_id: str | None = None, **options: object) -> int:
    names = "".join(f", {name} => %s" for name in options)
    sent: int = one(
        db, f"select howdah.send('q', %s, correlation_id => %s{names})", (body, correlation_id, *options.values())
    )
    return sent


def by_id(db: Db, message_id: int) -> list[str]:
    return column(db, "select body from howdah.receive_message('q', %s)", (message_id,))


def by_correlation(db: Db, correlation_id: str, n: int = 1) -> list[str]:
    return column(db, "select body from howdah.receive_correlated('q', %s, %s)", (correlation_id, n))


def browsed(db: Db, **options: object) -> list[str]:
    names = "".join(f", {name} => %s" for name in options)
    return column(db, f"select body from howdah.browse('q'{names})", tuple(options.values()))


def test_a_message_is_taken_by_its_number_and_the_others_stay(db: Db, create: Create) -> None:
    create()
    ids = [send(db, body) for body in "abc"]
    with db.transaction(force_rollback=True):
        assert by_id(db, ids[1]) == ["b"]
        assert by_id(db, ids[1]) == []
    assert by_id(db, ids[1]) == ["b"]
    assert by_id(db, ids[1]) == []
    assert [m.body for m in receive(db, n=9)] == ["a", "c"]
    assert column(db, "select unnest(message_ids) from howdah.journal where event = 'consumed' order by 1") == ids


def test_messages_of_a_correlation_id_are_taken_in_order(db: Db, create: Create) -> None:
    create()
    for body, correlation_id, priority in (("a", "c1", 4), ("b", "c2", 4), ("c", "c1", 4), ("d", "c1", 9)):
        send(db, body, correlation_id, priority=priority)
    send(db, "e", "c1", delivery_mode="non-persistent")
    assert by_correlation(db, "c1") == ["d"]
    assert sorted(by_correlation(db, "c1", 9)) == ["a", "c", "e"]
    assert by_correlation(db, "c1", 9) == []
    assert [m.body for m in receive(db, n=9)] == ["b"]


def test_correlation_ids_of_any_length_are_stored_and_found(db: Db, create: Create) -> None:
    create()
    long = "".join(chr(33 + i * 7919 % 90) for i in range(100_000))
    send(db, "a", long)
    assert by_correlation(db, long[:-1]) == []
    assert by_correlation(db, long) == ["a"]


def test_what_another_session_holds_is_passed_by(db: Db, create: Create, connect: Connect) -> None:
    create()
    first, _ = send(db, "a", "c"), send(db, "b", "c")
    other = connect()
    with other.transaction():
        assert [m.body for m in receive(other)] == ["a"]
        assert by_id(db, first) == []
        assert by_correlation(db, "c", 9) == ["b"]
    leased = send(db, "leased", "c")
    one(db, "select count(*) from howdah.lease('q')")
    assert by_id(db, leased) == by_correlation(db, "c") == []


def test_neither_a_delayed_nor_an_expired_message_is_taken_or_shown(db: Db, create: Create, clock: Clock) -> None:
    create()
    delayed = send(db, "delayed", "c", delay="1 minute")
    expiring = send(db, "expiring", "c", time_to_live="30 seconds")
    assert by_id(db, delayed) == []
    assert browsed(db, correlation_id="c") == browsed(db, selector="JMSCorrelationID = 'c'") == ["expiring"]
    clock.advance(30)
    assert browsed(db, correlation_id="c") == browsed(db, selector="JMSCorrelationID = 'c'") == []
    assert browsed(db, only_id=expiring) == []
    assert by_id(db, expiring) == []
    assert column(db, "select event from howdah.journal") == ["expired"]
    clock.advance(30)
    assert by_correlation(db, "c") == ["delayed"]


def test_failures_count_and_a_message_at_its_limit_is_disposed_of(db: Db, create: Create) -> None:
    create(max_failed_deliveries=2)
    sent = send(db, "a", "c")
    assert deliver_and_fail(db) == (1, "returned")
    with db.transaction(force_rollback=True):
        (count,) = column(db, "select delivery_count from howdah.receive_message('q', %s)", (sent,))
        assert count == 2
    with db.transaction():
        one(db, "select count(*) from howdah.receive_correlated('q', 'c')")
        db.execute("savepoint s")
    again = send(db, "b", "d")
    with db.transaction(force_rollback=True):
        assert by_id(db, again) == ["b"]
    fail(db, again)
    assert fail(db, again)[2] == "moved"
    assert by_id(db, again) == by_correlation(db, "d") == []
    assert [m.body for m in receive(db, SYSTEM)] == ["b"]


def test_a_message_that_was_moved_here_is_found_by_its_number(db: Db, create: Create) -> None:
    create()
    create("other")
    moved = one(db, "select howdah.send('other', 'moved')")
    one(db, "select howdah.move_messages('other', %s, 'q')", ([moved],))
    assert by_id(db, moved) == ["moved"]
    back = send(db, "back")
    one(db, "select howdah.move_messages('q', %s, 'other')", ([back],))
    one(db, "select howdah.move_messages('other', %s, 'q')", ([back],))
    assert browsed(db, only_id=back) == ["back"]
    assert by_id(db, back) == ["back"]


def test_it_is_refused_where_order_counts_and_to_whom_may_not_receive(db: Db, create: Create, connect: Connect) -> None:
    create()
    create("strict", strict_order=True)
    create("hardened", backout_count="hardened")
    create("paused")
    one(db, "select howdah.pause('paused')")
    one(db, "select howdah.create_topic('t')")
    one(db, "select howdah.subscribe('t', 's')")
    for verb in ("receive_message(%s, 1)", "receive_correlated(%s, 'c')"):
        for queue, state in (
            ("strict", "HD005"),
            ("hardened", "HD019"),
            ("paused", "HD009"),
            ("t::s", "HD005"),
            ("t", "HD001"),
            ("none", "HD001"),
        ):
            refused(db, state, f"select howdah.{verb}", (queue,))
        refused(connect("howdah_browser"), "42501", f"select howdah.{verb}", ("q",))
    refused(db, "HD005", "select howdah.receive_correlated('q', null)")
    refused(db, "HD005", "select howdah.receive_correlated('q', 'c', 0)")


def test_a_selector_pages_through_what_it_selects_and_nobody_is_disturbed(
    db: Db, create: Create, connect: Connect
) -> None:
    create()
    for i in range(20):
        one(
            db,
            "select howdah.send('q', %s, jsonb_build_object('n', %s::integer), %s)",
            (str(i), i, 9 if i % 7 == 0 else 4),
        )
    send(db, "np", delivery_mode="non-persistent")
    before = contents(db)
    shown: list[str] = []
    after: tuple[int, int] | None = None
    while True:
        rows = db.execute(
            "select body, priority, position from howdah.browse('q', 3, %s, %s, selector => 'n >= 5')",
            after or (None, None),
        ).fetchall()
        if not rows:
            break
        shown += [row[0] for row in rows]
        after = rows[-1][1:]
    assert shown == ["7", "14", *(str(i) for i in range(5, 20) if i % 7)]
    assert contents(db) == before
    assert browsed(db, selector="JMSDeliveryMode = 'NON_PERSISTENT'") == ["np"]
    assert len(browsed(db, selector=" ")) == 21
    with connect().transaction():
        refused(db, "HD023", "select howdah.browse('q', selector => 'n >')")
        refused(db, "HD005", "select howdah.browse('q', selector => 'n > 1', correlation_id => 'c')")
        refused(db, "HD005", "select howdah.browse('q', only_id => 1, correlation_id => 'c')")


@pytest.mark.first_case
@pytest.mark.slow
@pytest.mark.parametrize("analyzed", [True, False])
def test_a_long_queue_is_looked_into_by_its_keys(db: Db, create: Create, analyzed: bool) -> None:
    create()
    for i in range(8):
        by_id(db, send(db, "w", f"w{i}"))
        by_correlation(db, f"w{i}")
        browsed(db, correlation_id="w")
    one(
        db,
        "select cardinality(howdah.send_batch('q', array(select 'x' from generate_series(1, 100000)),"
        " correlation_ids => array(select 'c' || i from generate_series(1, 100000) i)))",
    )
    if analyzed:
        db.execute("analyze howdah.msgs")
    (wanted,) = receive(db, n=1, verb="browse")
    with db.transaction():
        reads = "select sum(idx_tup_fetch + seq_tup_read) from pg_stat_xact_user_tables where relname = 'msgs'"
        before = one(db, reads)
        assert len(by_correlation(db, "c50000")) == len(by_id(db, wanted.message_id)) == 1
        assert (
            len(browsed(db, correlation_id="c60000"))
            == len(browsed(db, selector="JMSPriority = 4", max_messages=5)) / 5
        )
        assert one(db, reads) - before < 200


def rows_read(db: Db) -> int:
    """Rows that the open transaction has read from the tables of messages, by whatever way."""
    tables = ("msgs", "msgs_nonpersistent", "parked", "leased", "moved")
    counted = [
        (
            f"pg_stat_get_xact_tuples_returned('howdah.{t}'::regclass) +"
            f" pg_stat_get_xact_tuples_fetched('howdah.{t}'::regclass)"
        )
        for t in tables
    ] + [f"pg_stat_get_xact_tuples_returned('howdah.pk_{t}'::regclass)" for t in tables]
    read: int = one(db, f"select {' + '.join(counted)}")
    return read


def test_a_number_costs_a_few_rows_wherever_it_lies_and_if_it_is_gone(db: Db, create: Create) -> None:
    create(max_failed_deliveries=1)
    create("other")
    one(db, "select cardinality(howdah.send_batch('q', array(select 'x' from generate_series(1, 20000))))")
    gone, dead, back, live = (receive(db)[0].message_id, *(m.message_id for m in receive(db, n=3, verb="browse")))
    fail(db, dead)
    one(db, "select howdah.move_messages('q', array[%s], 'other')", (back,))
    one(db, "select howdah.move_messages('other', array[%s], 'q')", (back,))
    far = one(db, "select howdah.send('other', 'far')")
    one(db, "select howdah.move_messages('other', array[%s], 'q')", (far,))
    calls = {
        "select count(*) from howdah.receive_message('q', %s)": {gone: 0, dead: 0, back: 1, live: 1, far: 1, 5: 0},
        "select count(*) from howdah.browse('q', only_id => %s)": {gone: 0, dead: 0, back: 1, live: 1, far: 1, 5: 0},
        "select count(*) from howdah.poison_message(%s)": {gone: 0, dead: 1, back: 1, live: 1, far: 1, 5: 0},
        "select count(*) from howdah.poison_message(%s, 'q')": {gone: 0, dead: 0, back: 1, live: 1, far: 1, 5: 0},
    }
    for query, expected in calls.items():
        for number, found in expected.items():
            with db.transaction(force_rollback=True):
                before = rows_read(db)
                assert one(db, query, (number,)) == found, (query, number)
                assert rows_read(db) - before < 100, (query, number)
    with db.transaction(force_rollback=True):
        before = rows_read(db)
        assert fail(db, gone)[2] == "gone"
        refused(db, "HD013", "select howdah.replay_edited('q', %s)", (gone,))
        assert rows_read(db) - before < 100


def test_notes_of_moves_go_when_the_message_has_left_and_not_before(db: Db, create: Create, connect: Connect) -> None:
    create()
    create("other")
    ids = [one(db, "select howdah.send('other', 'x')") for _ in range(3)]
    one(db, "select howdah.move_messages('other', %s, 'q')", (ids,))
    consumer = connect()
    consumer.execute("begin")
    assert [m.message_id for m in receive(consumer)] == ids[:1]
    assert by_id(db, ids[1]) == ["x"]
    for _ in range(2):
        one(db, "select howdah.maintain_incidents()")
        assert sorted(column(db, "select message_id from howdah.moved")) == [ids[0], ids[2]]
    consumer.execute("rollback")
    assert by_id(db, ids[0]) == ["x"]
    for _ in range(2):
        one(db, "select howdah.maintain_incidents()")
    assert column(db, "select message_id from howdah.moved") == [ids[2]]
    assert by_id(db, ids[2]) == ["x"]
