"""Queues and topics that their first use creates."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from autocreate_support import NAMES, ON, alter, unused_for
from support import Clock, Connect, Db, column, one, refused


@pytest.fixture
def on(db: Db) -> Db:
    """The database, whose queues and topics create themselves."""
    alter(db, **ON)
    return db


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


def test_numbers_are_left_to_administrators(on: Db) -> None:
    one(on, "select setval(pg_get_serial_sequence('howdah.destinations', 'id'), 900000)")
    refused(on, "HD002", "select howdah.send('q', 'x')")
    one(on, "select howdah.create_queue('q')")
    one(on, "select howdah.send('q', 'x')")
