"""send_batch: many messages, all or nothing."""

import pytest
from psycopg.types.json import Jsonb
from support import Connect, Db, all_refused, column, one, receive, refused


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")


def test_numbers_and_messages_come_in_the_order_of_the_bodies(db: Db) -> None:
    ids = one(db, "select howdah.send_batch('q', array(select 'm' || n from generate_series(1, 500) n))")
    assert ids == sorted(ids)
    assert len(set(ids)) == 500
    assert [(m.message_id, m.body) for m in receive(db, n=1000)] == [(id_, f"m{n + 1}") for n, id_ in enumerate(ids)]


def test_each_type_of_body_comes_back(db: Db) -> None:
    one(db, "select howdah.send_batch('q', %s)", ([b"\0\xff", b""],))
    one(db, "select howdah.send_batch('q', %s::jsonb[])", ([Jsonb({"a": 1}), Jsonb(None)],))
    one(db, "select howdah.send_batch('q', %s::text[])", (["消息", ""],))
    assert [(m.body, m.bytes, m.content_type) for m in receive(db, n=9)] == [
        (None, b"\0\xff", "application/octet-stream"),
        (None, b"", "application/octet-stream"),
        ('{"a": 1}', None, "application/json"),
        ("null", None, "application/json"),
        ("消息", None, "text/plain"),
        ("", None, "text/plain"),
    ]


def test_arrays_give_each_message_its_own_properties(db: Db) -> None:
    one(
        db,
        "select howdah.send_batch('q', array['a', 'b'], headers => array['{\"n\": 1}', null]::jsonb[],"
        " priorities => array[1, null], correlation_ids => array['c', null], message_types => array[null, 't'],"
        " reply_to => 'r')",
    )
    b, a = receive(db, n=2)
    assert (a.body, a.headers, a.priority, a.correlation_id, a.message_type, a.reply_to) == (
        "a", {"n": 1}, 1, "c", None, "r"
    )  # fmt: skip
    assert (b.body, b.headers, b.priority, b.correlation_id, b.message_type, b.reply_to) == (
        "b", None, 4, None, "t", "r"
    )  # fmt: skip


def test_an_empty_batch_sends_nothing(db: Db) -> None:
    for kind in ("text", "jsonb", "bytea"):
        assert one(db, f"select howdah.send_batch('q', '{{}}'::{kind}[])") == []
    assert receive(db) == []


def test_delay_and_delivery_mode_hold_for_all(db: Db) -> None:
    for extra in ("delay => '1 hour'", "delivery_mode => 'non-persistent'",
                  "delay => '1 hour', delivery_mode => 'non-persistent'", "delay => '0'"):  # fmt: skip
        one(db, f"select howdah.send_batch('q', array['a', 'b'], {extra})")
    assert db.execute(
        "select state, nonpersistent, count(*) from howdah.audit_messages group by 1, 2 order by 1, 2"
    ).fetchall() == [("live", False, 2), ("live", True, 2), ("parked", False, 2), ("parked", True, 2)]
    assert len(receive(db, n=9)) == 4


def test_a_full_journal_has_one_row_for_the_batch_and_one_event_for_each_message(db: Db) -> None:
    one(db, """select howdah.alter_queue('q', '{"journal_level": "full"}')""")
    ids = one(db, "select howdah.send_batch('q', array['a', 'b'])")
    assert one(db, "select count(*) from howdah.journal") == 1
    assert column(db, "select message_id from howdah.audit_journal where event = 'sent'") == ids


def test_bad_input_to_send_batch_is_refused_whole(db: Db) -> None:
    one(db, """select howdah.alter_queue('q', '{"max_message_bytes": 10}')""")
    cases = [("HD001", f"select howdah.send_batch({name}, array['x'])") for name in ("'none'", "null")]
    for kind in ("text", "jsonb", "bytea"):
        good = f"array['1', '2']::{kind}[]"
        cases += [
            ("HD005", f"select howdah.send_batch('q', null::{kind}[])"),
            ("HD005", f"select howdah.send_batch('q', array['1', null]::{kind}[])"),
            ("HD007", f"select howdah.send_batch('q', array['1', '12345678901']::{kind}[])"),
            ("HD006", f"select howdah.send_batch('q', {good}, priorities => array[4, 10])"),
            ("HD006", f"select howdah.send_batch('q', {good}, priorities => array[4, -1])"),
            ("HD005", f"select howdah.send_batch('q', {good}, priorities => array[4])"),
            ("HD005", f"select howdah.send_batch('q', {good}, headers => array['{{}}', '[]']::jsonb[])"),
            ("HD005", f"select howdah.send_batch('q', {good}, headers => array['{{}}']::jsonb[])"),
            ("HD005", f"select howdah.send_batch('q', {good}, correlation_ids => array['a'])"),
            ("HD005", f"select howdah.send_batch('q', {good}, message_types => array['a', 'b', 'c'])"),
            ("HD005", f"select howdah.send_batch('q', {good}, conversation_ids => '{{}}')"),
            ("HD005", f"select howdah.send_batch('q', {good}, time_to_live => '-1 s')"),
            ("HD005", f"select howdah.send_batch('q', {good}, delay => '-1 s')"),
            ("HD005", f"select howdah.send_batch('q', {good}, delay => '1000 years')"),
            ("HD005", f"select howdah.send_batch('q', {good}, delivery_mode => 'x')"),
            ("HD005", f"select howdah.send_batch('q', {good}, content_type => '')"),
        ]
    all_refused(db, cases)


def test_an_array_that_does_not_begin_at_one_or_has_several_dimensions_is_refused(db: Db) -> None:
    """PostgreSQL numbers the elements of such an array otherwise, so that properties would go to the wrong message."""
    all_refused(
        db,
        [
            ("HD005", f"select howdah.send_batch('q', {arrays})")
            for arrays in (
                "'[0:1]={\\x61,\\x62}'::bytea[]",
                "array[['a', 'b'], ['c', 'd']]::bytea[]",
                "array['a', 'b'], headers => array_fill('{}'::jsonb, '{2}', '{0}')",
                "array['a', 'b'], priorities => '[2:3]={1,2}'",
                "array['a', 'b'], correlation_ids => '[-1:0]={x,y}'",
                "array['a', 'b'], deduplication_keys => array[['x', 'y']]",
            )
        ],
    )
    assert receive(db, "q") == []


ROW = """select regexp_replace(to_jsonb(m)::text, '"(seq|message_id|sent_at|expires_at)": [^,]+', '', 'g'),
        m.expires_at - m.sent_at, m.message_id = m.seq * 1000000 + m.destination_id
    from howdah.msgs m order by m.seq"""


RECORDS = """select to_jsonb(j) - '{at, xid, message_ids, oldest_sent_at, expires_at}'::text[],
        j.oldest_sent_at = m.sent_at, j.expires_at = array[m.expires_at, m.expires_at]
    from howdah.journal j, (select min(m.sent_at) as sent_at, max(m.expires_at) as expires_at from howdah.msgs m) m
    where j.event = 'sent'"""


@pytest.mark.parametrize(
    "options",
    [
        "{}",
        '{"default_time_to_live_ms": 5000, "default_priority": 7, "message_limit": 9}',
        '{"journal_level": "full"}',
        '{"journal_level": "full", "default_time_to_live_ms": 5000, "message_groups": "transaction"}',
        '{"journal_level": "full", "stamp_user": true, "discard_with_sender": true}',
    ],
)
@pytest.mark.parametrize("bodies", ["array['a', 'b']", "array['\\xff', '\\x']::bytea[]", "array['{}', '[1]']::jsonb[]"])
def test_the_fast_path_stores_what_the_other_stores(db: Db, options: str, bodies: str) -> None:
    one(db, "select howdah.alter_queue('q', %s::jsonb)", (options,))
    send = f"select howdah.send_batch('q', {bodies}, reply_to => 'answers'"
    ids = one(db, send + ")")
    fast, recorded = db.execute(ROW).fetchall(), db.execute(RECORDS).fetchall()
    assert ids == column(db, "select message_id from howdah.msgs order by seq")
    db.execute("delete from howdah.msgs")
    db.execute("delete from howdah.journal")
    one(db, send + ", priorities => array[null, null]::integer[])")
    assert db.execute(ROW).fetchall() == fast
    assert db.execute(RECORDS).fetchall() == recorded
    assert len(fast) == 2
    assert len(recorded) == ("full" in options)


def test_a_batch_is_recorded_as_it_was_stored_though_its_queue_is_altered_and_dropped_meanwhile(db: Db) -> None:
    one(db, """select howdah.alter_queue('q', '{"journal_level": "full"}')""")
    db.execute(
        "create function public.alter_it() returns trigger language plpgsql as $$ begin"
        " update howdah.destinations set default_time_to_live_ms = 5000, default_priority = 7, dropped_at = now()"
        " where name = 'q'; return null; end $$"
    )
    db.execute("create trigger it after insert on howdah.msgs for each statement execute function public.alter_it()")
    ids = one(db, "select howdah.send_batch('q', array['a', 'b'])")
    query = "select message_ids, expires_at, priorities from howdah.journal where event = 'sent'"
    assert db.execute(query).fetchall() == [(ids, None, [4, 4])]


@pytest.mark.parametrize(
    ("change", "bodies", "state"),
    [
        ("select howdah.pause('q')", "array['a']", "HD008"),
        ("select howdah.alter_queue('q', '{\"message_limit\": 1}')", "array['a', 'b']", "HD018"),
        ("select howdah.alter_queue('q', '{\"max_message_bytes\": 3}')", "array['abcd', 'a']", "HD007"),
        ("select", "array['a', null]", "HD005"),
        ("select", "null::text[]", "HD005"),
    ],
)
def test_a_batch_that_the_fast_path_cannot_take_is_refused_whole(db: Db, change: str, bodies: str, state: str) -> None:
    db.execute(change.encode())
    refused(db, state, f"select howdah.send_batch('q', {bodies})")
    assert column(db, "select message_id from howdah.msgs") == []


def test_a_batch_of_mixed_sizes_keeps_its_order_and_its_bodies(db: Db) -> None:
    bodies = ["a" * size for size in (1, 5000, 0, 1901, 1900)]
    one(db, "select howdah.send_batch('q', %s::text[])", (bodies,))
    assert [m.body for m in receive(db, n=9)] == bodies


def test_who_may_not_send_there_stores_no_batch(db: Db, connect: Connect) -> None:
    one(db, "select howdah.revoke_queue('q', 'send', 'howdah_producer')")
    refused(connect("howdah_producer"), "HD010", "select howdah.send_batch('q', array['a'])")
    assert column(db, "select message_id from howdah.msgs") == []
