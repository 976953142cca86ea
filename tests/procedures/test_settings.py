"""No function's result depends on a setting that its caller can change; isolation, timeouts and who is asked apart."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import psycopg
import pytest
from hostile_settings import HOSTILE
from support import Clock, Connect, Db, column, one

POLICY = """{"max_failed_deliveries": 2, "use_exponential_backoff": true, "backoff_multiplier": 1.7,
    "redelivery_delay_ms": 1000, "collision_avoidance_factor": 0.15, "journal_level": "full", "notify_admin": true}"""

SCENARIO = [
    "create_queue('<script>')",
    "create_queue(E'a\\x1bb')",
    "create_queue(E'a.b\\n')",
    f"create_queue('a.q', '{POLICY}')",
    "create_queue('a.other', '{\"message_groups\": \"transaction\"}')",
    "queue_options('a.q')",
    "alter_queue('a.q', '{\"backoff_multiplier\": 1.9}')",
    "create_queue('Consumer.A.VirtualTopic.T')",
    "create_topic('VirtualTopic.T')",
    "create_topic('t.x')",
    "alter_engine('{\"imq.yellow.threshold\": 55}')",
    "set_policy('a.*.z', '{\"default_priority\": 6}')",
    "set_policy('a..z', '{}')",
    "list_policies()",
    "set_client_id('no such/id')",
    "set_connection('short')",
    "subscribe('t.*', 's', selector => 'price * 1.1 > 2.2 and name like ''a\\_%'' escape ''\\''', client_id => 'c1')",
    "subscribe('t.x', 'bad name')",
    "check_selector('a = 0.1 + 0.2 and b in (''x'', ''y'')')",
    "selector_matches('a + 0.2 = 0.30000000000000004', '{\"a\": 0.1}')",
    "selector_matches('a / 3.0 = 0.3333333333333333', '{\"a\": 1.0}')",
    "selector_matches('a = 1e23', '{\"a\": 1e23}')",
    "send('a.q', 'first', time_to_live => '40 days')",
    'send(\'a.q\', \'{"n": 1.5}\'::jsonb, headers => \'{"price": 2.1, "name": "a_1"}\', priority => 7)',
    "send('a.q', '\\000\\\\x'::text, headers => '{\"JMSXGroupID\": \"g\"}')",
    "send('a.q', decode('00ff5c', 'hex'), delay => '200 days')",
    (
        "send_batch('a.other', array['x', null, 'NULL'], headers => array['{\"JMSXGroupID\":"
        " \"g\"}', '{}', '{}']::jsonb[])"
    ),
    "send_batch('a.other', array['x', 'NULL'], headers => array['{\"JMSXGroupID\": \"g\"}', '{}']::jsonb[])",
    "send('queue://a.q,topic://t.x', 'both', headers => '{\"price\": 2.1, \"name\": \"a_1\"}')",
    "send('VirtualTopic.T', 'virtual')",
    "receive('Consumer.A.VirtualTopic.T')",
    "list_delayed('a.q')",
    "browse('a.q', 10)",
    "browse('a.q', 10, selector => 'price = 2.1 or price + 0.2 > 2.3')",
    "schedule('a.q', 'tick', cron => '*/10 8-17 1,15 jan-dec mon-fri', time_zone => 'Europe/Vienna', name => 'n')",
    "schedule('a.q', 'tick', cron => '* * * *')",
    "schedule('a.q', 'tick', cron => '61 * * * *')",
    "schedule('a.q', 'tock', period => '1 day 2 hours', repeat => 3, name => 'p')",
    """send('a.q', 'by headers', headers => '{"AMQ_SCHEDULED_DELAY": 60000, "AMQ_SCHEDULED_REPEAT": "2"}')""",
    "send('a.q', 'wrong', headers => '{\"AMQ_SCHEDULED_DELAY\": \"1x\"}')",
    "list_schedules()",
    "fire_schedules()",
    "savepoint",
    "receive('a.q', 2)",
    "rollback",
    (
        "record_failure('a.q', 1000003, 'no such ''thing'' at 0xdeadbeef or deadbeef99 in  12.5 s', 'E',"
        " '22P02', delay => '2 days')"
    ),
    "record_failure('a.q', 2000003, 'late 2024-01-01', 'E', details => '{\"x\": 1e5}')",
    "record_failure('a.q', 2000003, 'late 2025-12-31', 'E')",
    "incidents('a.q')",
    "poison_causes()",
    "list_poison()",
    "receive('_SYSTEM.Advisory', 5)",
    "receive('a.other', 2)",
    # All there is, ordered: a wildcard begins at one of the busy queues, which depends on how long ago they were looked
    # at.
    "receive('a.*', 20, selector => 'JMSXGroupID is null') as received",
    "receive('t.*:c1:s', 5)",
    "open_consumer('a.q', timeout => '1 hour')",
    "lease('a.q', 1, '6 days')",
    "extend('a.q', 1, '5 days')",
    "nack('a.q', 1, error_text => 'no')",
    "create_listener('l/1', 'a.q', '{\"max_sessions\": 2}')",
    "create_listener('l 1', 'a.q')",
    "list_listeners()",
    "park_messages('a.q', array[3000003], delay => '200 days')",
    "queue_stats('a.q')",
    "list_queues()",
    'next_journal_offset(\'{"snapshot": "3:3:", "dropped": "x"}\')',
    "activemq_msgs",
    "activemq_acks",
    "activemq_lock",
    "maintain_journal()",
    "maintain_totals()",
    "maintain_backlog()",
    "maintain_expired()",
    "maintain_incidents()",
    "drop_queue('a.other')",
]


def hide(value: Any) -> Any:
    """What is different each time: random UUIDs."""
    if isinstance(value, UUID):
        return "uuid"
    if isinstance(value, str):
        return re.sub(r"[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}", "uuid", value)
    return value


def perform(db: Db, settings: dict[str, str]) -> list[tuple[str, Any]]:
    """What each call of the scenario gives under these settings, in a transaction that is rolled back."""
    known = {name.lower() for name in column(db, "select name from pg_settings")}
    said: list[tuple[str, Any]] = []
    db.execute("load 'plpgsql'")
    db.execute("create or replace function pg_temp.none() returns integer language plpgsql as 'begin return 1; end'")
    one(db, "select setseed(0.5)")  # where a wildcard begins
    with db.transaction(force_rollback=True):
        for name, value in settings.items():
            if name.lower() in known or name.startswith(("howdah.", "plpgsql.")):
                db.execute("select set_config(%s, %s, true)", (name, value))
        for call in SCENARIO:
            if call in ("savepoint", "rollback"):
                db.execute(b"savepoint s" if call == "savepoint" else b"rollback to s")
                continue
            source = f"howdah.{call}"
            # The literals of the call itself are the caller's affair.
            text = re.sub(r"(?<![E'\w])'((?:[^']|'')*)'", lambda m: "E'" + m[1].replace("\\", "\\\\") + "'", source)
            try:
                with db.transaction():
                    order = "" if call.endswith(")") else " order by 1"  # a view has none of its own
                    rows = db.execute(f"select * from {text}{order}".encode(), binary=True).fetchall()
                said.append((call, [tuple(hide(value) for value in row) for row in rows]))
            except psycopg.Error as error:
                said.append((call, (error.sqlstate, hide(error.diag.message_primary), error.diag.message_hint)))
    return said


@pytest.fixture(autouse=True)
def another_heap(db: Db) -> None:
    """An access method that a caller may name, as an extension would bring one."""
    if one(db, "select rolsuper from pg_roles where rolname = current_user"):
        db.execute("create access method another_heap type table handler heap_tableam_handler")


@pytest.mark.slow
def test_a_caller_does_not_decide_where_and_how_relations_are_made(db: Db, connect: Connect, clock: Clock) -> None:
    clock.advance(400 * 86400)
    consumer, producer, admin = (connect(f"howdah_{kind}") for kind in ("consumer", "producer", "admin"))
    known = "select exists (select from pg_am where amname = 'another_heap')"
    for session in (consumer, producer, admin):
        session.execute("set default_tablespace = pg_global")
        if one(db, known):
            session.execute("set default_table_access_method = another_heap")
    before = one(db, "select max(oid) from pg_class")
    one(admin, "select howdah.create_queue('q', '{\"message_limit\": 5}')")
    one(admin, "select howdah.create_topic('t')")
    one(consumer, "select howdah.subscribe('t', 's')")
    one(consumer, "select howdah.create_temporary_queue()")
    assert one(consumer, "select howdah.maintain_journal()") > 0
    with producer.transaction():
        one(producer, "select howdah.begin_copy()")
        placed = (
            "select a.amname from pg_class c join pg_am a on a.oid = c.relam"
            " where c.oid = 'pg_temp.howdah_copy'::regclass"
        )
        assert one(producer, placed) == "heap"
    made = (
        "select distinct c.relkind::text, c.reltablespace, a.amname from pg_class c left"
        " join pg_am a on a.oid = c.relam"
        " where c.oid > %s and c.relnamespace = 'howdah'::regnamespace and c.relkind in ('r', 'S')"
    )
    assert {(kind, place) for kind, place, _ in db.execute(made, (before,))} == {("r", 0), ("S", 0)}
    assert {how for kind, _, how in db.execute(made, (before,)) if kind == "r"} == {"heap"}


@pytest.fixture
def plain(db: Db, clock: Clock) -> dict[str, int | None]:
    """The time stands still before the hour changes in spring and autumn; where each sequence stands."""
    clock.set(datetime(2026, 3, 1, 12, 0, tzinfo=UTC))
    # The template's totals are of later than that: once its server has made 20,000 transactions they would do for
    # queue_stats.
    db.execute("update howdah.engine set totals_at = howdah.now() - interval '1 day'")
    return dict(
        db.execute(
            "select c.oid::regclass::text, pg_sequence_last_value(c.oid) from pg_class c"
            " where c.relkind = 'S' and c.relnamespace = 'howdah'::regnamespace"
        ).fetchall()
    )


def again(db: Db, sequences: dict[str, int | None]) -> None:
    """Put the sequences back where they stood: numbers are to be the same."""
    for name, value in sequences.items():
        db.execute(
            "select setval(%s::regclass, coalesce(%s::bigint, s.seqstart), %s) from pg_sequence s"
            " where s.seqrelid = %s::regclass",
            (name, value, value is not None, name),
        )


@pytest.mark.slow
@pytest.mark.parametrize("group", HOSTILE)
def test_a_callers_settings_change_no_result(
    db: Db, connect: Connect, plain: dict[str, int | None], group: str
) -> None:
    expected = perform(connect(), {})
    again(db, plain)
    found = perform(connect(), HOSTILE[group])
    for (call, before), (_, after) in zip(expected, found, strict=True):
        assert after == before, call


@pytest.mark.slow
def test_the_scenario_gives_what_it_should(connect: Connect, plain: dict[str, int | None]) -> None:
    failed = {call: said[0] for call, said in perform(connect(), {}) if isinstance(said, tuple)}
    assert failed == {
        "create_queue('<script>')": "HD003",
        "create_queue(E'a\\x1bb')": "HD003",
        "create_queue(E'a.b\\n')": "HD003",
        "set_policy('a..z', '{}')": "HD003",
        "set_client_id('no such/id')": "HD003",
        "set_connection('short')": "HD005",
        "subscribe('t.x', 'bad name')": "HD003",
        (
            "send_batch('a.other', array['x', null, 'NULL'], headers => array['{\"JMSXGroupID\":"
            " \"g\"}', '{}', '{}']::jsonb[])"
        ): "HD005",
        "schedule('a.q', 'tick', cron => '* * * *')": "HD005",
        "schedule('a.q', 'tick', cron => '61 * * * *')": "HD005",
        "send('a.q', 'wrong', headers => '{\"AMQ_SCHEDULED_DELAY\": \"1x\"}')": "HD005",
        "create_listener('l 1', 'a.q')": "HD003",
        'next_journal_offset(\'{"snapshot": "3:3:", "dropped": "x"}\')': "HD005",
    }


def test_no_plain_literal_in_a_function_has_a_backslash(db: Db) -> None:
    """Its meaning would be standard_conforming_strings'."""
    texts = db.execute(
        "select p.oid::regprocedure::text, p.prosrc from pg_proc p where p.pronamespace = 'howdah'::regnamespace"
        " and strpos(p.prosrc, chr(92)) > 0"
    ).fetchall()
    suspects = []
    for name, text in texts:
        code = re.sub(r"--[^\n]*", "", text)
        code = re.sub(r"\bE'(?:[^'\\]|''|\\.)*'(\s*\n\s*'(?:[^'\\]|''|\\.)*')*", "", code)
        if "\\" in code:
            suspects.append(name)
    assert suspects == []
