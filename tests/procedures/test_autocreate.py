"""Queues and topics that their first use creates."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb
from support import Clock, Connect, Db, column, one, refused, wait_until

ON = {"autocreate_queue": True, "autocreate_topic": True}
NAMES = "select name from howdah.destinations where dropped_at is null and auto_created order by 1"


def alter(db: Db, **options: Any) -> None:
    """Change options of the engine."""
    one(db, "select howdah.alter_engine(%s)", (Jsonb(options),))


@pytest.fixture
def on(db: Db) -> Db:
    """The database, whose queues and topics create themselves."""
    alter(db, **ON)
    return db


def reap(db: Db) -> int:
    """Run a pass that looks, whatever the clock."""
    return int(one(db, "select howdah.maintain_autocreated()"))


def unused_for(clock: Clock, db: Db, seconds: float = 121) -> int:
    """Let maintenance look now and after some time; the number of destinations that ended."""
    ended = reap(db)
    clock.advance(seconds)
    return ended + reap(db)


FIRST_USES = {
    "send": "select howdah.send('new', 'x')",
    "send with headers": "select howdah.send('new', 'x', headers => '{\"a\": 1}')",
    "send non-persistent": "select howdah.send('new', 'x', delivery_mode => 'non-persistent')",
    "send delayed": "select howdah.send('new', 'x', delay => '1 minute')",
    "send large": "select howdah.send('new', repeat('x', 9000))",
    "batch": "select howdah.send_batch('new', array['x'::bytea])",
    "composite": "select howdah.send('queue://new', 'x')",
    "respond": "select howdah.respond('new', 'x', 'c')",
    "schedule": "select howdah.schedule('new', 'x', period => '1 minute')",
    "receive": "select howdah.receive('new')",
    "receive with a selector": "select howdah.receive('new', selector => 'a = 1')",
    "receive by correlation": "select howdah.receive_correlated('new', 'c')",
    "lease": "select howdah.lease('new')",
    "wait": "select howdah.wait('new')",
    "consumer": "select howdah.open_consumer('new')",
    "attempts": "select howdah.begin_attempts('new')",
    "listener": "select howdah.ensure_listener('l', 'new')",
}


@pytest.mark.behaviour("IMQ-95")
@pytest.mark.parametrize("statement", FIRST_USES.values(), ids=list(FIRST_USES))
def test_the_first_use_creates_a_queue(on: Db, statement: str) -> None:
    on.execute(statement.encode())
    assert one(on, "select (kind, auto_created)::text from howdah.destinations where name = 'new'") == "(queue,t)"
    one(on, "select howdah.send('new', 'again')")
    assert column(on, NAMES) == ["new"]


def test_the_first_subscription_or_publication_creates_a_topic(on: Db) -> None:
    name = one(on, "select howdah.subscribe('news', 's')")
    one(on, "select howdah.send('news', 'x')")
    one(on, "select howdah.send('topic://other,queue://q', 'x')")
    assert column(on, f"select body from howdah.receive('{name}')") == ["x"]
    kinds = "select name || ' ' || kind from howdah.destinations where auto_created order by 1"
    assert column(on, kinds) == ["news topic", "other topic", "q queue"]
    topics = "select topic, auto_created from howdah.list_topics()"
    assert on.execute(topics.encode()).fetchall() == [("news", True), ("other", True)]


@pytest.mark.behaviour("IMQ-94")
def test_each_kind_is_off_until_it_is_switched_on_under_either_name(db: Db) -> None:
    refused(db, "HD001", "select howdah.send('q', 'x')")
    refused(db, "HD001", "select howdah.subscribe('t', 's')")
    alter(db, **{"imq.autocreate.queue": True})
    one(db, "select howdah.send('q', 'x')")
    refused(db, "HD001", "select howdah.subscribe('t', 's')")
    alter(db, autocreate_queue=False, **{"imq.autocreate.topic": True})
    one(db, "select howdah.subscribe('t', 's')")
    refused(db, "HD001", "select howdah.send('q2', 'x')")
    assert column(db, NAMES) == ["q", "t"]


@pytest.mark.parametrize("name", ["_SYSTEM.x", "SYSTEM.x", "_TEMP.x", "", "a b", "x" * 243, None])
def test_no_name_that_is_the_engines_or_that_no_queue_could_have_creates_one(on: Db, name: str | None) -> None:
    for call in ("send(%s, 'x')", "receive(%s)", "open_consumer(%s)"):
        with pytest.raises(psycopg.Error) as failed:
            on.execute(f"select howdah.{call}".encode(), (name,))
        assert failed.value.sqlstate == "HD001"
    assert column(on, NAMES) == []


def test_wildcards_browsers_and_administrators_create_nothing(on: Db) -> None:
    refused(on, "HD001", "select howdah.receive('A.*')")
    for call in ("browse('q')", "alter_queue('q', '{}')", "purge_queue('q')", "pause('q')", "queue_options('q')"):
        refused(on, "HD001", f"select howdah.{call}")
    assert one(on, "select howdah.subscribe('A.*', 's')")
    assert column(on, NAMES) == []


def test_an_alias_of_a_missing_queue_stays_broken(on: Db) -> None:
    one(on, "select howdah.create_queue('q')")
    one(on, "select howdah.create_alias('a', 'q')")
    one(on, "select howdah.drop_queue('q')")
    refused(on, "HD001", "select howdah.send('a', 'x')")
    assert column(on, NAMES) == []


@pytest.mark.behaviour("IMQ-95")
def test_twenty_first_senders_at_once_make_one_queue_and_nobody_fails(on: Db, connect: Connect) -> None:
    senders = [connect() for _ in range(20)]
    gate = threading.Barrier(20)
    errors: list[Exception] = []

    def send(session: Db) -> None:
        gate.wait()
        try:
            one(session, "select howdah.send('new', 'x')")
        except psycopg.Error as error:
            errors.append(error)

    threads = [threading.Thread(target=send, args=(session,)) for session in senders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert one(on, "select count(*) from howdah.destinations where name = 'new'") == 1
    assert len(column(on, "select howdah.receive('new', 100)")) == 20


def in_background(work: Callable[[], Any]) -> tuple[threading.Thread, list[Any]]:
    """Run in a thread; its result or error comes into the list."""
    results: list[Any] = []

    def run() -> None:
        try:
            results.append(work())
        except psycopg.Error as error:
            results.append(error.sqlstate)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, results


def waits(db: Db, session: Db) -> None:
    """Return once a session waits for a lock."""
    pid = session.info.backend_pid
    wait_until(lambda: one(db, "select wait_event_type = 'Lock' from pg_stat_activity where pid = %s", (pid,)))


@pytest.mark.parametrize("first_ends_by", ["commit", "rollback"])
def test_a_second_first_sender_waits_for_the_first_and_succeeds_however_that_ends(
    on: Db, connect: Connect, first_ends_by: str
) -> None:
    first, second = connect(), connect()
    first.execute("begin")
    one(first, "select howdah.send('new', 'a')")
    thread, results = in_background(lambda: one(second, "select howdah.send('new', 'b')"))
    waits(on, second)
    first.execute(first_ends_by.encode())
    thread.join()
    assert isinstance(results[0], int)
    assert column(on, "select body from howdah.receive('new', 9)") == (
        ["a", "b"] if first_ends_by == "commit" else ["b"]
    )


def test_a_rolled_back_first_use_leaves_nothing(on: Db) -> None:
    on.execute("begin")
    one(on, "select howdah.send('new', 'x')")
    on.execute("rollback")
    assert column(on, NAMES) == []
    assert one(on, "select count(*) from howdah.config_changes where kind <> 'engine'") == 0


def test_a_repeatable_read_transaction_that_comes_second_fails_to_serialize(on: Db, connect: Connect) -> None:
    old = connect()
    old.execute("begin isolation level repeatable read")
    one(old, "select count(*) from pg_class")
    one(on, "select howdah.send('new', 'x')")
    refused(old, "40001", "select howdah.send('new', 'y')")
    old.execute("rollback")
    one(old, "select howdah.send('new', 'y')")


@pytest.mark.slow
def test_two_new_names_in_opposite_order_deadlock_and_a_composite_name_does_not(on: Db, connect: Connect) -> None:
    one_way, other_way = connect(), connect()
    for session, name in ((one_way, "a"), (other_way, "b")):
        session.execute("begin")
        one(session, "select howdah.send(%s, 'x')", (name,))
    thread, results = in_background(lambda: one(one_way, "select howdah.send('b', 'x')"))
    waits(on, one_way)
    second = in_background(lambda: one(other_way, "select howdah.send('a', 'x')"))
    second[0].join()
    if second[1] == ["40P01"]:
        other_way.execute("rollback")
    thread.join()
    assert max(map(str, results + second[1])) == "40P01"
    one_way.execute("rollback")
    other_way.execute("rollback")

    one_way.execute("begin")
    one(one_way, "select howdah.send('c,d', 'x')")
    thread, results = in_background(lambda: one(other_way, "select howdah.send('d,c', 'x')"))
    waits(on, other_way)
    one_way.execute("commit")
    thread.join()
    assert isinstance(results[0], int)


@pytest.mark.behaviour("IMQ-96")
def test_who_may_not_create_gets_a_security_error_and_no_row(on: Db, connect: Connect) -> None:
    on.execute(
        "create or replace function howdah._has_right_by_name(p_resource text, p_name text, p_operation text)"
        " returns boolean language sql stable as $$ select p_name <> 'secret' $$"
    )
    producer, consumer = connect("howdah_producer"), connect("howdah_consumer")
    refused(producer, "HD010", "select howdah.send('secret', 'x')")
    refused(consumer, "HD010", "select howdah.receive('secret')")
    refused(consumer, "HD010", "select howdah.subscribe('secret', 's')")
    assert one(on, "select count(*) from howdah.destinations where name = 'secret'") == 0
    one(producer, "select howdah.send('open', 'x')")
    assert column(consumer, "select body from howdah.receive('open')") == ["x"]


@pytest.mark.behaviour("IMQ-99")
def test_a_new_one_has_the_limits_that_are_configured(on: Db) -> None:
    options = "select howdah.queue_options(%s)"
    limits = ("message_limit", "byte_limit", "max_message_bytes")
    one(on, "select howdah.send('first', 'x')")
    assert [one(on, options, ("first",))[key] for key in limits] == [100000, 10485760, 10240]
    refused(on, "HD007", "select howdah.send('first', repeat('x', 10241))")
    alter(on, **{"imq.autocreate.destination.maxNumMsgs": 2, "imq.autocreate.destination.maxBytesPerMsg": "1k"})
    one(on, "select howdah.send('second', 'x')")
    assert [one(on, options, ("second",))[key] for key in limits] == [2, 10485760, 1024]
    assert [one(on, options, ("first",))[key] for key in limits] == [100000, 10485760, 10240]
    one(on, "select howdah.send('second', 'x')")
    refused(on, "HD018", "select howdah.send('second', 'x')")
    alter(on, autocreate_options={"max_failed_deliveries": 3, "default_priority": 7})
    one(on, "select howdah.send('third', 'x')")
    assert one(on, options, ("third",))["default_priority"] == 7
    one(on, "select howdah.subscribe('t', 's')")
    assert one(on, "select howdah.topic_options('t')")["default_priority"] == 7


def test_a_wildcard_policy_overrides_the_engines_options(on: Db) -> None:
    one(on, "select howdah.set_policy('A.>', '{\"message_limit\": 7}')")
    one(on, "select howdah.send('A.b', 'x')")
    assert one(on, "select howdah.queue_options('A.b')")["message_limit"] == 7
    assert one(on, "select howdah.queue_options('A.b')")["byte_limit"] == 10485760


@pytest.mark.parametrize(
    "options",
    [
        {"autocreate_options": {"no": 1}},
        {"autocreate_options": 1},
        {"autocreate_options": {"exception_mode": "named"}},
        {"autocreate_queue": "yes"},
        {"autocreate_reap_seconds": 0},
        {"imq.autocreate.destination.maxNumMsgs": "many"},
        {"imq.autocreate.destination.maxNumProducers": 100},
    ],
)
def test_wrong_options_are_refused(db: Db, options: dict[str, Any]) -> None:
    with pytest.raises(psycopg.Error) as failed:
        alter(db, **options)
    assert failed.value.sqlstate == "HD004"


def test_each_creation_and_end_is_on_record(on: Db, clock: Clock) -> None:
    one(on, "select howdah.subscribe('t', 's', durable => false)")
    assert column(on, "select howdah.receive('q')") == []
    assert unused_for(clock, on) == 1
    record = "select kind || ' ' || name || ' ' || act from howdah.config_changes"
    record += " where kind <> 'engine' order by change_id"
    assert column(on, record) == ["topic t created", "queue q created", "queue q dropped"]


@pytest.mark.behaviour("IMQ-97")
def test_one_ends_after_the_time_without_messages_and_consumers(on: Db, clock: Clock) -> None:
    one(on, "select howdah.send('q', 'x')")
    assert unused_for(clock, on) == 0, "it holds a message"
    consumer = one(on, "select howdah.open_consumer('q', timeout => '1 day')")
    assert len(column(on, "select howdah.receive('q')")) == 1
    assert unused_for(clock, on) == 0, "its consumer is open"
    one(on, f"select howdah.close_consumer({consumer})")
    assert unused_for(clock, on) == 1
    assert column(on, NAMES) == []
    refused(on, "HD001", "select howdah.queue_options('q')")


def test_it_ends_no_earlier_than_the_time_after_its_last_use(on: Db, clock: Clock) -> None:
    alter(on, **{"imq.autocreate.reaptime": 30})
    assert column(on, "select howdah.receive('q')") == []
    assert unused_for(clock, on, 29) == 0
    one(on, "select setval('howdah.search_of_' || id, 7) from howdah.destinations where name = 'q'")
    clock.advance(2)
    assert reap(on) == 0, "within nine seconds it is not looked at again"
    clock.advance(10)
    assert reap(on) == 0, "a receiver searched"
    clock.advance(30)
    assert reap(on) == 1


USES = {
    "a lease": ("select howdah.send('q', 'x')", "select howdah.lease('q', duration => '1 hour')"),
    "a delayed message": ("select howdah.send('q', 'x', delay => '1 hour')",),
    "a non-persistent message": ("select howdah.send('q', 'x', delivery_mode => 'non-persistent')",),
    "a listener": ("select howdah.ensure_listener('l', 'q')",),
    "a schedule": ("select howdah.schedule('q', 'x', period => '1 day')",),
    "an alias": ("select howdah.receive('q')", "select howdah.create_alias('a', 'q')"),
    "an exception destination": (
        "select howdah.receive('q')",
        "select howdah.create_queue('o', '{\"exception_queue\": \"q\"}')",
    ),
    "a pause": ("select howdah.receive('q')", "select howdah.pause('q')"),
    "a subscription": ("select howdah.subscribe('q', 's')",),
    "a bridge": (
        "select howdah.receive('q')",
        "select howdah.create_topic('t')",
        "select howdah.bridge('t', 'q')",
    ),
    "a link": ("select howdah.receive('q')", "select howdah.create_link('k', 'q', 'other', 'target')"),
}


@pytest.mark.first_case
@pytest.mark.parametrize("statements", USES.values(), ids=list(USES))
def test_what_is_in_use_stays(on: Db, clock: Clock, statements: tuple[str, ...]) -> None:
    for statement in statements:
        on.execute(statement.encode())
    assert unused_for(clock, on) == 0
    assert "q" in column(on, NAMES)


@pytest.mark.behaviour("IMQ-100")
def test_an_administrators_own_never_ends(on: Db, clock: Clock) -> None:
    one(on, "select howdah.create_queue('q')")
    one(on, "select howdah.create_topic('t')")
    assert unused_for(clock, on, 100 * 86400) == 0
    names = "select name from howdah.destinations where dropped_at is null and not is_system order by 1"
    assert column(on, names) == ["q", "t"]


@pytest.mark.first_case
@pytest.mark.parametrize(
    "statement",
    [
        "select howdah.alter_queue('q', '{\"default_priority\": 5}')",
        "select howdah.grant_queue('q', 'send', 'howdah_browser')",
        "select howdah.revoke_queue('q', 'send', 'howdah_producer')",
        "select howdah.alter_topic('t', '{\"default_priority\": 5}')",
    ],
)
def test_what_an_administrator_alters_is_his_from_then_on(on: Db, clock: Clock, statement: str) -> None:
    one(on, "select howdah.send('queue://q,topic://t', 'x')")
    assert len(column(on, "select howdah.receive('q')")) == 1
    on.execute(statement.encode())
    adopted = "t" if "'t'" in statement else "q"
    assert adopted not in column(on, NAMES)
    assert unused_for(clock, on) == 1
    assert one(on, "select count(*) from howdah.destinations where name = %s and dropped_at is null", (adopted,)) == 1


def test_a_name_that_comes_and_goes_uses_one_number_and_no_message_number_twice(on: Db, clock: Clock) -> None:
    number = "select id from howdah.destinations where name = 'q' and dropped_at is null"
    first = one(on, "select howdah.send('q', 'a')")
    was = one(on, number)
    for hours in (0, 2):
        column(on, "select howdah.receive('q')")
        assert unused_for(clock, on) == 1
        clock.advance(hours * 3600)
        one(on, "select howdah.maintain_dropped()")
        again = one(on, "select howdah.send('q', 'b')")
        assert again > first
        assert one(on, number) == was
        first = again
    assert one(on, "select count(*) from pg_class where relname = 'positions_' || %s", (was,)) == 1
    assert column(on, "select body from howdah.receive('q')") == ["b"]
    column(on, "select howdah.receive('q')")
    assert unused_for(clock, on) == 1
    alter(on, autocreate_options={})
    one(on, "select howdah.send('q', 'c')")
    assert one(on, number) != was, "its options would be others"


def test_a_topic_that_comes_again_serves_the_wildcards_that_came_meanwhile(on: Db, clock: Clock) -> None:
    one(on, "select howdah.send('topic://A.b', 'x')")
    assert unused_for(clock, on) == 1
    name = one(on, "select howdah.subscribe('A.*', 's')")
    one(on, "select howdah.send('topic://A.b', 'y')")
    assert column(on, f"select body from howdah.receive('{name}', 9)") == ["y"]


def test_a_plain_name_that_was_a_topic_becomes_a_topic_again_for_its_publisher(on: Db, clock: Clock) -> None:
    name = one(on, "select howdah.subscribe('news', 's')")
    one(on, "select howdah.send('news', 'x')")
    one(on, f"select howdah.unsubscribe('{name}')")
    assert unused_for(clock, on) == 1
    one(on, "select howdah.send('news', 'y')")
    assert one(on, "select kind from howdah.destinations where name = 'news' and dropped_at is null") == "topic"
    assert one(on, "select howdah.subscribe('news', 's')") == name
    one(on, f"select howdah.unsubscribe('{name}')")
    clock.advance(10)
    assert unused_for(clock, on) == 1
    assert column(on, "select howdah.receive('news')") == [], "a receiver means a queue"


def test_numbers_are_left_to_administrators(on: Db) -> None:
    one(on, "select setval(pg_get_serial_sequence('howdah.destinations', 'id'), 900000)")
    refused(on, "HD002", "select howdah.send('q', 'x')")
    one(on, "select howdah.create_queue('q')")
    one(on, "select howdah.send('q', 'x')")


def test_an_uncommitted_send_keeps_the_queue(on: Db, connect: Connect, clock: Clock) -> None:
    sender = connect()
    assert column(on, "select howdah.receive('q')") == []
    reap(on)
    clock.advance(121)
    sender.execute("begin")
    one(sender, "select howdah.send('q', 'x')")
    assert reap(on) == 0
    clock.advance(121)
    assert reap(on) == 0
    sender.execute("commit")
    clock.advance(121)
    assert reap(on) == 0
    assert column(on, "select body from howdah.receive('q')") == ["x"]


def test_an_uncommitted_receive_keeps_the_queue(on: Db, connect: Connect, clock: Clock) -> None:
    receiver = connect()
    one(on, "select howdah.send('q', 'x')")
    receiver.execute("begin")
    assert len(column(receiver, "select howdah.receive('q')")) == 1
    assert unused_for(clock, on) == 0
    receiver.execute("rollback")
    assert column(on, "select body from howdah.receive('q')") == ["x"]


def test_a_prepared_send_keeps_the_queue(on: Db, connect: Connect, clock: Clock) -> None:
    sender = connect()
    assert column(on, "select howdah.receive('q')") == []
    sender.execute("begin")
    one(sender, "select howdah.send('q', 'x', notify => false)")
    sender.execute("prepare transaction 'auto'")
    assert unused_for(clock, on) == 0
    sender.execute("commit prepared 'auto'")
    assert column(on, "select body from howdah.receive('q')") == ["x"]


def test_a_sender_that_comes_while_the_end_is_not_committed_waits_for_nobody_and_loses_nothing(
    on: Db, connect: Connect, clock: Clock
) -> None:
    maintenance, sender = connect(), connect()
    assert column(on, "select howdah.receive('q')") == []
    reap(on)
    clock.advance(121)
    maintenance.execute("begin")
    assert reap(maintenance) == 1
    sent = one(sender, "select howdah.send('q', 'x')")
    maintenance.execute("commit")
    assert column(on, NAMES) == []
    assert column(on, "select message_id from howdah.receive('q')") == [sent], "the next use brings it back"


def test_an_old_snapshots_send_after_the_end_comes_back_with_maintenance(
    on: Db, connect: Connect, clock: Clock
) -> None:
    old = connect()
    assert column(on, "select howdah.receive('q')") == []
    reap(on)
    clock.advance(121)
    old.execute("begin isolation level repeatable read")
    one(old, "select count(*) from howdah.destinations")
    assert reap(on) == 1
    sent = one(old, "select howdah.send('q', 'x')")
    old.execute("commit")
    assert column(on, NAMES) == []
    one(on, "select howdah.maintain_dropped()")
    assert column(on, NAMES) == ["q"]
    assert column(on, "select message_id from howdah.receive('q')") == [sent]


def test_what_comes_again_is_as_old_as_its_journal(on: Db, clock: Clock) -> None:
    """The audit accuses a queue of whatever was journaled before the queue was created."""
    created = "select created_at from howdah.list_queues() where queue = 'q'"
    one(on, "select howdah.send('q', 'x')")
    first = one(on, created)
    assert len(column(on, "select message_id from howdah.receive('q')")) == 1
    reap(on)
    clock.advance(121)
    assert reap(on) == 1
    one(on, "select howdah.send('q', 'x')")
    assert one(on, created) == first
    assert one(
        on, "select created_at <= all (select at from howdah.journal) from howdah.audit_destinations where queue = 'q'"
    )


def test_a_consumer_that_opens_while_the_end_is_decided_keeps_the_queue(on: Db, connect: Connect, clock: Clock) -> None:
    consumer = connect()
    assert column(on, "select howdah.receive('q')") == []
    reap(on)
    clock.advance(121)
    consumer.execute("begin")
    one(consumer, "select howdah.open_consumer('q', timeout => '1 day')")
    assert reap(on) == 0
    consumer.execute("commit")
    clock.advance(121)
    assert reap(on) == 0


def test_what_an_administrator_dropped_stays_dropped_until_it_is_used_again(on: Db, connect: Connect) -> None:
    sender = connect()
    one(on, "select howdah.send('q', 'x')")
    sender.execute("begin")
    one(sender, "select howdah.send('q', 'late')")
    one(on, "select howdah.drop_queue('q', force => true)")
    sender.execute("commit")
    one(on, "select howdah.maintain_dropped()")
    assert column(on, NAMES) == []
    one(on, "select howdah.send('q', 'y')")
    assert column(on, "select body from howdah.receive('q', 9)") == ["y"]


def test_another_administrators_queue_of_the_name_is_no_reason_to_lose_a_late_message(
    on: Db, connect: Connect, clock: Clock
) -> None:
    old = connect()
    assert column(on, "select howdah.receive('q')") == []
    reap(on)
    clock.advance(121)
    old.execute("begin isolation level repeatable read")
    one(old, "select count(*) from howdah.destinations")
    assert reap(on) == 1
    one(on, "select howdah.create_queue('q')")
    sent = one(old, "select howdah.send('q', 'x')")
    old.execute("commit")
    assert one(on, "select howdah.maintain_dropped()") == 1
    dead = column(on, "select message_id from howdah.receive('_SYSTEM.Exception.Destination.howdah', 9)")
    assert dead == [sent]


def test_maintenance_needs_read_committed_and_its_lock(on: Db) -> None:
    refused(on, "HD014", "select howdah.maintain_autocreated(99)")
    on.execute("begin isolation level repeatable read")
    refused(on, "HD005", "select howdah.maintain_autocreated()")
    on.execute("rollback")


@pytest.mark.slow
def test_a_pass_locks_few_sequences(on: Db) -> None:
    on.execute("select howdah.send('q' || n, 'x') from generate_series(1, 600) n")
    on.execute("begin")
    reap(on)
    assert one(on, "select count(*) from pg_locks where pid = pg_backend_pid()") < 1500
    on.execute("commit")
    assert one(on, "select count(*) from howdah.auto_destinations where looked_at is null") == 100


def test_maintenance_makes_the_sequences_of_the_next_ones_beforehand(on: Db, connect: Connect) -> None:
    for _ in range(5):
        reap(on)
    assert one(on, "select count(*) from howdah.spare_numbers") == 100
    made = "select count(*) from pg_class where relkind = 'S' and relnamespace = 'howdah'::regnamespace"
    before = one(on, made)
    one(on, "select howdah.send('q', 'x')")
    assert one(on, made) == before
    other = connect()
    other.execute("begin")
    one(other, "select howdah.send('rolled-back', 'x')")
    one(on, "select howdah.send('r', 'x')")
    other.execute("rollback")
    assert one(on, "select count(*) from howdah.spare_numbers") == 98
    assert column(on, "select body from howdah.receive('q')") == ["x"]
    refused(on, "HD007", "select howdah.send('q', repeat('x', 20000))")
    one(on, "select howdah.create_queue('administrators', '{\"message_limit\": 1}')")
    one(on, "select howdah.send('administrators', 'x')")
    refused(on, "HD018", "select howdah.send('administrators', 'x')")
    reap(on)
    assert one(on, "select count(*) from howdah.spare_numbers") == 100


def test_nothing_is_made_beforehand_while_nothing_creates_itself(db: Db) -> None:
    reap(db)
    assert one(db, "select count(*) from howdah.spare_numbers") == 0


def test_the_limits_of_a_new_queue_hold_to_the_message_and_the_byte(on: Db, connect: Connect) -> None:
    alter(on, autocreate_options={"message_limit": 70, "byte_limit": 1000000})
    for name in ("a", "b"):
        reap(on)  # makes sequences beforehand
        other = connect()
        other.execute("begin")
        one(other, "select howdah.send(%s, 'rolled back')", (name,))
        other.execute("rollback")
        on.execute("select howdah.send(%s, 'x') from generate_series(1, 70) n", (name,))
        refused(on, "HD018", f"select howdah.send('{name}', 'x')")
    alter(on, autocreate_options={"byte_limit": 100000})
    on.execute("select howdah.send('c', repeat('x', 1000)) from generate_series(1, 100) n")
    refused(on, "HD018", "select howdah.send('c', 'x')")
    alter(on, autocreate_options={"message_limit": 3})
    one(on, "select howdah.send_batch('d', array['x', 'x', 'x']::bytea[])")
    refused(on, "HD018", "select howdah.send('d', 'x')")
    refused(on, "HD018", "select howdah.send_batch('e', array['x', 'x', 'x', 'x']::bytea[])")
    assert one(on, "select count(*) from howdah.destinations where name = 'e'") == 0


def test_a_queue_that_keeps_bodies_stays_until_their_time_is_over(on: Db, clock: Clock) -> None:
    alter(on, autocreate_options={"keep_bodies_ms": 3_600_000})
    one(on, "select howdah.send('new', 'x')")
    assert len(on.execute("select howdah.receive('new')").fetchall()) == 1
    assert unused_for(clock, on) == 0
    assert one(on, "select count(*) from howdah.browse_kept('new')") == 1
    clock.advance(3600)
    assert unused_for(clock, on) == 1
    assert one(on, "select count(*) from howdah.kept_messages") == 0
