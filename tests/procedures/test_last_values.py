"""last_value_key: a message replaces the unread one of its key, wherever that lies and however it is sent."""

from __future__ import annotations

from typing import Any

import pytest
from last_values_support import BODIES, DISCARDED, KEY, quote
from policy_support import Create
from psycopg.types.json import Jsonb
from support import (
    Clock,
    Db,
    all_refused,
    column,
    deliver_and_fail,
    one,
    receive,
    refused,
)

from howdah.migrations import add_facade


def test_a_message_replaces_the_unread_one_of_its_key_which_is_on_record_as_discarded(db: Db, create: Create) -> None:
    create(last_value_key=KEY, journal_level="full")
    first = quote(db, "IBM", "1")
    quote(db, "SUN", "2")
    second = quote(db, "IBM", "x" * 5000)
    quote(db, "IBM", "4")
    assert column(db, BODIES) == ["2", "4"]
    assert column(db, DISCARDED) == [first, second]
    assert one(db, "select count(*) from howdah.bodies") == 0
    assert [m.body for m in receive(db, n=9)] == ["2", "4"]
    quote(db, "IBM", "5")
    assert column(db, BODIES) == ["5"]
    assert column(db, DISCARDED) == [first, second]


def test_a_message_without_the_header_replaces_nothing_and_is_not_replaced(db: Db, create: Create) -> None:
    create(last_value_key=KEY)
    one(db, "select howdah.send('q', 'plain')")
    for body in ("a", "b"):
        quote(db, None, body)
    one(db, "select howdah.send('q', 'null', headers => %s)", (Jsonb({KEY: None}),))
    quote(db, "IBM", "c")
    one(db, "select howdah.send('q', 'number', headers => %s)", (Jsonb({KEY: 5}),))
    one(db, "select howdah.send('q', 'text', headers => %s)", (Jsonb({KEY: "5"}),))
    quote(db, "k" * 10_000, "long")
    quote(db, "k" * 10_000, "longer")
    assert column(db, BODIES) == ["plain", "a", "b", "null", "c", "text", "longer"]


@pytest.mark.parametrize(
    "more",
    [{"priority": 9}, {"delivery_mode": "non-persistent"}, {"delay": "1 hour"}, {"deduplication_key": "d"}],
    ids=str,
)
def test_the_old_one_goes_wherever_it_lies(db: Db, create: Create, more: dict[str, Any]) -> None:
    create(last_value_key=KEY)
    quote(db, "IBM", "1", **more)
    quote(db, "IBM", "2")
    assert column(db, "select message_id from howdah.audit_messages") == column(
        db, "select message_id from howdah.browse('q')"
    )
    assert column(db, BODIES) == ["2"]
    quote(db, "IBM", "3", **more | ({"deduplication_key": "e"} if "deduplication_key" in more else {}))
    assert one(db, "select count(*) from howdah.audit_messages") == 1


def test_a_message_that_waits_for_its_redelivery_is_replaced(db: Db, create: Create) -> None:
    create(last_value_key=KEY, redelivery_delay_ms=60_000)
    quote(db, "IBM", "1")
    assert deliver_and_fail(db) == (1, "delayed")
    quote(db, "IBM", "2")
    assert [m.body for m in receive(db, n=9)] == ["2"]
    assert one(db, "select count(*) from howdah.audit_messages") == 0


def test_a_batch_leaves_the_last_of_each_key(db: Db, create: Create) -> None:
    create(last_value_key=KEY, journal_level="full")
    quote(db, "a", "old")
    headers = [Jsonb({KEY: key} if key else {}) for key in ("a", "b", None, "a", "b", "c")]
    ids = one(db, "select howdah.send_batch('q', %s::text[], headers => %s)", (list("123456"), headers))
    assert len(set(ids)) == 6
    assert column(db, BODIES) == ["3", "4", "5", "6"]
    assert column(db, "select message_id from howdah.browse('q')") == ids[2:]
    one(
        db,
        "select howdah.send_batch('q', %s::text[], headers => %s)",
        (["7", "8"], [Jsonb({KEY: "a"}), Jsonb({KEY: "c"})]),
    )
    assert column(db, BODIES) == ["3", "5", "7", "8"]
    one(db, "select howdah.send_batch('q', array['9'])")
    assert column(db, BODIES) == ["3", "5", "7", "8", "9"]
    assert len(column(db, DISCARDED)) == 5
    assert one(db, "select count(distinct message_id) from howdah.audit_journal where event = 'sent'") == 10


def test_a_rollback_of_the_sender_brings_the_old_one_back(db: Db, create: Create) -> None:
    create(last_value_key=KEY)
    quote(db, "IBM", "1")
    with db.transaction(force_rollback=True):
        quote(db, "IBM", "2")
        assert column(db, BODIES) == ["2"]
    assert column(db, BODIES) == ["1"]
    quote(db, "IBM", "3")
    assert column(db, BODIES) == ["3"]


def test_a_leased_message_stays_with_its_reader(db: Db, create: Create, clock: Clock) -> None:
    create(last_value_key=KEY)
    first = quote(db, "IBM", "1")
    lease = one(db, "select lease from howdah.lease('q', 1, interval '1 minute')")
    quote(db, "IBM", "2")
    assert one(db, "select howdah.ack('q', %s)", (lease,)) == 1
    quote(db, "IBM", "3")
    assert column(db, BODIES) == ["3"]
    assert first not in column(db, DISCARDED)
    one(db, "select lease from howdah.lease('q', 1, interval '1 minute')")
    clock.advance(61)
    quote(db, "IBM", "4")
    assert [m.body for m in receive(db, n=9)] == ["4"]


def test_a_full_queue_takes_a_message_that_replaces_another(db: Db, create: Create) -> None:
    create(last_value_key=KEY, message_limit=2)
    quote(db, "a", "1")
    quote(db, "b", "2")
    for step in range(5):
        quote(db, "a", f"a{step}")
    refused(db, "HD018", "select howdah.send('q', 'x', headers => %s)", (Jsonb({KEY: "c"}),))
    assert column(db, BODIES) == ["2", "a4"]


def test_bridges_schedules_and_copies_replace_too(db: Db, create: Create) -> None:
    create(last_value_key=KEY)
    quote(db, "IBM", "1")
    one(db, "select howdah.create_topic('t')")
    one(db, "select howdah.bridge('t', 'q')")
    one(db, "select howdah.send('t', 'bridged', headers => %s)", (Jsonb({KEY: "IBM"}),))
    assert column(db, BODIES) == ["bridged"]
    with db.transaction():
        one(db, "select howdah.begin_copy()::text")
        with db.cursor().copy(b"copy pg_temp.howdah_copy (body, headers) from stdin") as copy:
            copy.write('copied\t{"stock": "IBM"}\ntwice\t{"stock": "IBM"}\n')
        one(db, "select howdah.send_copied('q')")
    assert column(db, BODIES) == ["twice"]
    one(db, "select howdah.schedule('q', 'clock', period => '1 hour', starts_at => now(), headers => %s)",
        (Jsonb({KEY: "IBM"}),))  # fmt: skip
    db.execute("select howdah.fire_schedules()")
    assert column(db, BODIES) == ["clock"]


def test_keys_without_a_message_are_forgotten_and_the_others_are_not(db: Db, create: Create, clock: Clock) -> None:
    create(last_value_key=KEY)
    quote(db, "consumed", "1")
    receive(db)
    quote(db, "there", "2")
    quote(db, "delayed", "3", delay="10 hours")
    quote(db, "leased", "4", priority=4)
    one(db, "select howdah.maintain_deduplications()")
    keys = "select count(distinct key) from howdah.last_values"
    assert one(db, keys) == 4
    clock.advance(3601)
    one(db, "select howdah.maintain_deduplications()")
    assert one(db, keys) == 3
    quote(db, "there", "5")
    quote(db, "consumed", "6")
    quote(db, "delayed", "7")
    assert one(db, "select count(*) from howdah.audit_messages") == 4
    one(db, "select howdah.drop_queue('q', true)")
    clock.advance(3601)
    one(db, "select howdah.maintain_deduplications()")
    assert one(db, keys) == 0


def test_a_value_of_another_header_is_another_key(db: Db, create: Create) -> None:
    create(last_value_key=KEY)
    quote(db, "IBM", "1")
    one(db, "select howdah.alter_queue('q', '{\"last_value_key\": \"share\"}')")
    for body in ("2", "3"):
        one(db, "select howdah.send('q', %s, headers => '{\"share\": \"IBM\"}')", (body,))
    assert column(db, BODIES) == ["1", "3"]


def test_what_was_kept_or_archived_replaces_nothing_newer(db: Db, create: Create) -> None:
    create(last_value_key=KEY, keep_bodies_ms=3_600_000)
    quote(db, "IBM", "old")
    receive(db)
    quote(db, "IBM", "new")
    assert one(db, "select howdah.replay_kept('q')") == 1
    assert column(db, BODIES) == ["new", "old"]
    quote(db, "IBM", "newest")
    assert column(db, BODIES) == ["old", "newest"]


@pytest.mark.own_database
def test_the_facade_of_pgmq_replaces_too(db: Db, dsn: str) -> None:
    add_facade(dsn, "pgmq")
    db.execute("select pgmq.create('q')")
    one(db, "select howdah.alter_queue('q', %s)", (Jsonb({"last_value_key": KEY}),))
    numbers = "select array_agg(msg_id order by msg_id) from pgmq.q_q"
    header = Jsonb({KEY: "IBM"})
    for more in ("", ", 0", ", 60", ", now()"):
        last = one(db, f"select pgmq.send('q', '1', %s::jsonb{more})", (header,))
        assert one(db, numbers) == [last]
    for more in ("", ", 60"):
        last = column(db, f"select pgmq.send_batch('q', '{{1,2}}'::jsonb[], %s{more})", ([header, header],))[-1]
        assert one(db, numbers) == [last]
    plain = one(db, "select pgmq.send('q', '2')")
    assert one(db, numbers) == [last, plain]


def test_the_option_is_for_queues_and_names_a_header(db: Db, create: Create) -> None:
    one(db, "select howdah.create_topic('t')")
    subscription = one(db, "select howdah.subscribe('t', 's')")
    all_refused(
        db,
        [
            ("HD004", "select howdah.create_queue('x', '{\"last_value_key\": \"\"}')"),
            ("HD004", "select howdah.create_queue('x', '{\"last_value_key\": 5}')"),
            ("HD004", f"select howdah.alter_queue('{subscription}', '{{\"last_value_key\": \"k\"}}')"),
            ("HD004", "select howdah.create_topic('x', '{\"last_value_key\": \"k\"}')"),
        ],
    )
    create()
    quote(db, "IBM", "1")
    quote(db, "IBM", "2")
    one(db, "select howdah.alter_queue('q', %s)", (Jsonb({"last_value_key": KEY}),))
    quote(db, "IBM", "3")
    quote(db, "IBM", "4")
    assert column(db, BODIES) == ["1", "2", "4"]
