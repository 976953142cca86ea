"""The ring of tables that topic messages go round in gives back its space and loses nothing."""

from typing import Any

import pytest
from support import Clock, Connect, Db, column, one, receive, refused
from topics_support import bodies, maintain, publish, ring, rotate, stored, subscribe, topic


@pytest.mark.behaviour("AMQ-48")
@pytest.mark.behaviour("IMQ-24")
def test_space_is_given_back_within_a_turn_when_the_slowest_subscriber_has_acknowledged(db: Db, clock: Clock) -> None:
    topic(db)
    names = [subscribe(db, name) for name in "abc"]
    publish(db, *["x" * 5000] * 20)
    for name in names[:2]:
        assert len(bodies(db, name)) == 20
    for _ in range(3):
        rotate(db, clock)
    assert stored(db) == 20
    assert one(db, "select count(*) from howdah.activemq_msgs") == 20
    assert len(bodies(db, names[2])) == 20
    rotate(db, clock)  # topic_rotation_seconds, and the next call of the maintenance
    assert stored(db) == 0
    assert (
        one(
            db,
            "select sum(pg_relation_size(c.oid)) from pg_class c where relname ~ '^topic_(msgs|nonpersistent)_[0-2]$'",
        )
        == 0
    )


def test_the_ring_turns_only_after_its_time_and_when_something_was_published(db: Db, clock: Clock) -> None:
    topic(db)
    name = subscribe(db)
    clock.set(one(db, "select max(opened_at) from howdah.topic_ring"))  # however long ago the template was made
    assert (rotate(db, clock), ring(db)) == ("", ["open", "empty", "empty"])
    publish(db, "x")
    clock.advance(-1200)
    assert one(db, "select howdah.maintain_topics()") == ""
    clock.advance(1801)
    assert one(db, "select howdah.maintain_topics()") == "opened 1"
    assert ring(db) == ["closing", "open", "empty"]
    publish(db, "y")
    assert bodies(db, name) == ["x", "y"]
    assert one(db, "select howdah.maintain_topics()") == "closed 0; emptied 0, carried 0 messages on"
    assert ring(db) == ["empty", "open", "empty"]


@pytest.mark.first_case
@pytest.mark.parametrize("shared", [False, True])
def test_what_a_laggard_needs_is_carried_on_and_read_in_order_once(db: Db, clock: Clock, shared: bool) -> None:
    topic(db)
    name = subscribe(db, shared=shared)
    selective = subscribe(db, "some", selector="n = 3")
    sent = []
    for number in range(7):
        sent += publish(db, str(number), headers={"n": number})
        publish(db, f"np{number}", headers={"n": number}, delivery_mode="non-persistent")
        rotate(db, clock)
    assert bodies(db, name, 3) == ["0", "np0", "1"]
    for _ in range(3):
        rotate(db, clock)
    assert bodies(db, name) == ["np1", *(f"{kind}{n}" for n in range(2, 7) for kind in ("", "np"))]
    assert bodies(db, selective) == ["3", "np3"]
    for _ in range(3):
        rotate(db, clock)
    assert stored(db) == 0
    assert one(db, "select count(*) from howdah.acked") == 0


def test_a_table_somebody_still_writes_to_is_neither_closed_nor_emptied(db: Db, clock: Clock, connect: Connect) -> None:
    topic(db)
    name = subscribe(db)
    writer = connect()
    with writer.transaction():
        publish(writer, "late")
        publish(db, "x")
        clock.advance(601)
        assert one(db, "select howdah.maintain_topics()") == "opened 1"
        assert one(db, "select howdah.maintain_topics()") == "left 0, which is written to"
        assert bodies(db, name) == ["x"]
        publish(db, "y")
        assert bodies(db, name) == ["y"]
    assert bodies(db, name) == ["late"]
    assert "emptied 0" in one(db, "select howdah.maintain_topics()")


def test_a_long_reader_delays_the_emptying_and_loses_nothing(db: Db, clock: Clock, connect: Connect) -> None:
    topic(db)
    name = subscribe(db)
    publish(db, "x", "y")
    reader = connect()
    with reader.transaction(force_rollback=True):
        assert bodies(reader, name, 1) == ["x"]
        said = rotate(db, clock)
        assert "left 0, which is in use" in said
        assert bodies(reader, name, 1) == ["y"]
    assert bodies(db, name) == ["x", "y"]
    assert "emptied 0" in rotate(db, clock)


def test_a_reader_with_an_old_snapshot_is_told_to_retry_when_the_ring_was_emptied(
    db: Db, clock: Clock, connect: Connect
) -> None:
    topic(db)
    name = subscribe(db)
    publish(db, "x")
    reader = connect()
    reader.execute("begin isolation level repeatable read")
    reader.execute("select count(*) from howdah.engine")
    clock.advance(601)
    for _ in range(2):
        one(db, "select howdah.maintain_topics()")
    refused(reader, "40001", "select howdah.receive(%s)", (name,))
    reader.execute("rollback")
    assert bodies(reader, name) == ["x"]


def test_a_rolled_back_maintenance_is_made_good(db: Db, clock: Clock, connect: Connect) -> None:
    topic(db)
    name = subscribe(db)
    publish(db, "x")
    clock.advance(601)
    with db.transaction(force_rollback=True):
        one(db, "select howdah.maintain_topics()")
        one(db, "select howdah.maintain_topics()")
    publish(db, "y")
    assert bodies(db, name) == ["x", "y"]
    publish(db, "z")
    for _ in range(3):
        rotate(db, clock)
    assert bodies(db, name) == ["z"]


def test_two_sessions_do_not_maintain_at_once_and_an_old_leader_is_refused(db: Db, connect: Connect) -> None:
    other = connect()
    with other.transaction():
        one(other, "select howdah.maintain_topics()")
        one(other, "select howdah.maintain_subscriptions()")
        assert one(db, "select howdah.maintain_topics()") == ""
        assert one(db, "select howdah.maintain_subscriptions()") == ""
    refused(db, "HD014", "select howdah.maintain_topics(99)")
    refused(db, "HD014", "select howdah.maintain_subscriptions(99)")
    producer = connect("howdah_producer")
    refused(producer, "42501", "select howdah.maintain_topics()")
    refused(producer, "42501", "select howdah.maintain_subscriptions()")


def test_old_steps_of_a_cursor_are_deleted(db: Db) -> None:
    topic(db)
    name = subscribe(db)
    for number in range(30):
        publish(db, str(number))
        bodies(db, name, 1)
    assert one(db, "select count(*) from howdah.ack_cursors") > 30
    maintain(db)
    assert one(db, "select count(*) from howdah.ack_cursors") <= 9
    publish(db, "x")
    assert bodies(db, name) == ["x"]


@pytest.mark.first_case
@pytest.mark.parametrize("options", [{"retain_bytes": 10**9}, {"recovery": "fixed_count", "recovery_amount": 20_000}])
def test_the_ring_turns_quickly_with_thousands_of_messages_kept(db: Db, clock: Clock, options: dict[str, Any]) -> None:
    topic(db, **options)
    one(db, "select cardinality(howdah.send_batch('t', array(select n::text from generate_series(1, 12000) n)))")
    clock.advance(601)
    with db.transaction():
        db.execute("set local statement_timeout = '10s'")
        one(db, "select howdah.maintain_topics()")
        assert one(db, "select howdah.maintain_topics()") == "closed 0"
    assert stored(db) == 12_000


@pytest.mark.slow
def test_a_ring_that_one_subscriber_holds_still_is_told_of_and_goes_on_when_it_has_read(db: Db, clock: Clock) -> None:
    topic(db, "busy")
    topic(db, "kept")
    reader, laggard = subscribe(db, "reader", to="busy"), subscribe(db, "laggard", to="kept")
    one(db, "select cardinality(howdah.send_batch('kept', array_fill('x'::text, array[10001])))")
    publish(db, "1", to="busy")
    waits = "select reason from howdah.maintenance_waits where service = 'topics'"
    for body in "23":
        rotate(db, clock)
        publish(db, body, to="busy")
        assert column(db, waits) == []
    rotate(db, clock)
    (reason,) = column(db, waits)
    assert "more than 10,000 messages" in reason
    assert "'kept'" in reason
    assert reason in one(db, "select advice from howdah.check_server() where setting = 'maintenance topics'")
    assert bodies(db, reader) == ["1", "2", "3"]
    rotate(db, clock)
    assert stored(db) > 10_001
    assert len(receive(db, laggard, 10_000)) == 10_000
    for _ in range(3):
        rotate(db, clock)
    assert column(db, waits) == []
    assert stored(db) == 1


@pytest.mark.first_case
@pytest.mark.parametrize(
    "options",
    [
        {"retain_bytes": 1_000_000_000},
        {"retain_ms": 3_600_000_000},
        {"recovery": "fixed_count", "recovery_amount": 1_000_000},
        {"recovery": "timed", "recovery_amount": 3_600_000_000},
    ],
    ids=["retain_bytes", "retain_ms", "fixed_count", "timed"],
)
def test_what_a_dropped_topic_was_to_keep_holds_no_table(db: Db, clock: Clock, options: dict[str, Any]) -> None:
    topic(db, "kept", **options)
    one(db, "select cardinality(howdah.send_batch('kept', array_fill('x'::text, array[10001])))")
    rotate(db, clock)
    assert stored(db) == 10_001, "while it is there, it keeps them"
    one(db, "select howdah.drop_topic('kept')")
    assert "emptied 0" in rotate(db, clock)
    assert stored(db) == 0


P, N = "persistent", "non-persistent"


@pytest.mark.first_case
@pytest.mark.parametrize(
    "modes", [[P, P, P, P], [N, N, N, N], [P, N, P, N], [N, P, P, N]], ids=["p", "n", "pnpn", "nppn"]
)
def test_each_table_is_read_in_order_and_journaled_by_kind_whatever_lies_ahead(
    db: Db, clock: Clock, modes: list[str]
) -> None:
    topic(db)
    subscribe(db)
    for _ in range(3):
        sent = [publish(db, "x", delivery_mode=mode)[0] for mode in modes]
        got = [*receive(db, "t::s", 3), *receive(db, "t::s", 3)]
        expected = list(zip(sent, modes, strict=True))
        assert [(m.message_id, m.delivery_mode) for m in got] == expected
        assert (
            db.execute(
                "select j.message_id, case when j.nonpersistent then %s else %s end from howdah.audit_journal j"
                " where j.event = 'consumed' and j.message_id = any (%s) order by 1",
                (N, P, sent),
            ).fetchall()
            == expected
        )
        rotate(db, clock)
