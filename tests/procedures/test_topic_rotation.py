"""The ring of tables that topic messages go round in, and bounds on those who fall behind."""

import json
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


def advisories(db: Db) -> list[tuple[str, Any]]:
    return [(m.message_type or "", json.loads(m.body or "")) for m in receive(db, "_SYSTEM.Advisory", 99)]


@pytest.mark.first_case
@pytest.mark.parametrize("prioritized", [False, True])
def test_a_backlog_past_its_limit_is_dropped_after_a_warning(db: Db, prioritized: bool) -> None:
    topic(db, backlog_limit=10)
    name = subscribe(db, options={"prioritized": prioritized})
    quick = subscribe(db, "quick")
    sent = []
    for number in range(8):
        sent += publish(db, "x", priority=number)
    assert maintain(db) == f"warned of {name}; warned of {quick}"
    assert [
        (kind, body["queue"], body["behind"], body["action"]) for kind, body in advisories(db) if body["queue"] == name
    ] == [("SUBSCRIPTION_BEHIND", name, 8, "drop_backlog")]
    assert maintain(db) == ""
    assert len(bodies(db, quick)) == 8
    sent += publish(db, "x", "x", "x")
    assert maintain(db) == f"dropped the backlog of {name}"
    assert [(kind, body["behind"]) for kind, body in advisories(db)] == [("BACKLOG_DROPPED", 11)]
    assert (
        column(
            db,
            "select message_id from howdah.audit_journal where queue = %s and event = 'discarded' order by 1",
            (name,),
        )
        == sent
    )
    publish(db, "new")
    assert bodies(db, name) == ["new"]
    assert len(bodies(db, quick)) == 4
    maintain(db)
    publish(db, *["x"] * 9)
    bodies(db, quick)
    assert maintain(db) == f"warned of {name}"


def test_a_subscription_too_far_behind_in_time_is_dropped(db: Db, clock: Clock) -> None:
    topic(db, backlog_age_ms=60_000, backlog_action="drop_subscription")
    name = subscribe(db)
    publish(db, "x")
    clock.advance(50)
    assert maintain(db) == f"warned of {name}"
    clock.advance(20)
    assert maintain(db) == f"dropped {name}"
    refused(db, "HD001", "select howdah.receive(%s)", (name,))
    assert [kind for kind, _ in advisories(db)] == ["SUBSCRIPTION_BEHIND", "SUBSCRIPTION_DROPPED"]
    assert maintain(db) == ""


@pytest.mark.first_case
@pytest.mark.parametrize("ending", ["catches up", "unsubscribes", "option"])
def test_publishers_are_refused_while_a_subscription_is_too_far_behind(db: Db, connect: Connect, ending: str) -> None:
    topic(db, backlog_limit=2, backlog_action="refuse")
    name = subscribe(db)
    publish(db, "a", "b", "c")
    maintain(db)
    assert maintain(db) == "refused publishers to t"
    said = refused(db, "HD018", "select howdah.send('t', 'x')")
    assert name in (said.message_hint or "")
    refused(connect("howdah_producer"), "HD018", "select howdah.send_batch('t', array['x'])")
    assert one(db, "select refused_for from howdah.list_topics()") == name
    if ending == "catches up":
        assert bodies(db, name) == ["a", "b", "c"]
        maintain(db)
    elif ending == "unsubscribes":
        one(db, "select howdah.unsubscribe(%s)", (name,))
    else:
        one(db, """select howdah.alter_topic('t', '{"backlog_action": "drop_backlog"}')""")
    assert publish(db, "x")
    assert one(db, "select refused_for from howdah.list_topics()") is None


def test_a_subscription_being_read_is_not_dropped_under_its_reader(db: Db, connect: Connect) -> None:
    topic(db, backlog_limit=1)
    name = subscribe(db)
    publish(db, "a", "b", "c")
    maintain(db)
    reader = connect()
    with reader.transaction():
        assert bodies(reader, name, 1) == ["a"]
        assert maintain(db) == ""
        assert bodies(reader, name, 1) == ["b"]
    assert bodies(db, name) == ["c"]


@pytest.fixture
def prepares(db: Db) -> None:
    if one(db, "show max_prepared_transactions") == "0":
        pytest.skip("the server prepares no transactions")


def test_what_a_prepared_publisher_commits_late_is_neither_skipped_nor_truncated(
    db: Db, clock: Clock, connect: Connect, prepares: None
) -> None:
    topic(db)
    name = subscribe(db)
    gid = f"publisher of {db.info.dbname}"
    writer = connect()
    writer.execute("begin")
    publish(writer, "prepared", notify=False)
    writer.execute(f"prepare transaction '{gid}'".encode())
    publish(db, "x")
    assert bodies(db, name) == ["x"]
    for _ in range(3):
        rotate(db, clock)
    publish(db, "y")
    assert bodies(db, name) == ["y"]
    db.execute(f"commit prepared '{gid}'".encode())
    assert bodies(db, name) == ["prepared"]
    rotate(db, clock)
    rotate(db, clock)
    assert stored(db) == 0


@pytest.mark.parametrize("shared", [False, True])
def test_a_prepared_consumer_keeps_what_it_took_until_it_is_ended(
    db: Db, connect: Connect, prepares: None, shared: bool
) -> None:
    topic(db)
    name = subscribe(db, shared=shared)
    publish(db, "a", "b")
    for ending in ("rollback", "commit"):
        gid = f"consumer of {db.info.dbname}"
        reader = connect()
        reader.execute("begin")
        assert bodies(reader, name, 1) == ["a"]
        reader.execute(f"prepare transaction '{gid}'".encode())
        refused(db, "HD024", "select howdah.unsubscribe(%s)", (name,))
        if shared:
            with db.transaction(force_rollback=True):
                assert bodies(db, name) == ["b"]
        else:
            refused(db, "HD024", "select howdah.receive(%s)", (name,))
        db.execute(f"{ending} prepared '{gid}'".encode())
    assert bodies(db, name) == ["b"]


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
