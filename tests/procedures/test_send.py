"""send: what goes in comes out, and what must not go in does not."""

import json
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from psycopg.types.json import Jsonb
from support import Clock, Connect, Db, all_refused, column, one, receive, refused


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")


@pytest.mark.behaviour("AMQ-24")
@pytest.mark.parametrize("body", ["", "hello", "消息队列与有毒消息 🐘", "line\nline\ttab 'quote' \\ ;"])
def test_text_comes_back_as_the_same_text(db: Db, body: str) -> None:
    one(db, "select howdah.send('q', %s)", (body,))
    (message,) = receive(db)
    assert (message.body, message.bytes, message.content_type) == (body, None, "text/plain")


@pytest.mark.behaviour("AMQ-24")
@pytest.mark.behaviour("WAS-01")
@pytest.mark.parametrize("body", [b"", bytes(range(256)), b"\0\0", b"\xff\xfe garbage \x80", b"{not json"])
def test_bytes_come_back_as_the_same_bytes_whatever_they_are(db: Db, body: bytes) -> None:
    sent = one(db, "select howdah.send('q', %b, content_type => 'application/json')", (body,))
    for _ in range(3):
        with db.transaction(force_rollback=True):
            (message,) = receive(db)
            assert (message.message_id, message.bytes, message.body) == (sent, body, None)
            assert (message.delivery_count, message.content_type) == (1, "application/json")


@pytest.mark.behaviour("AMQ-22")
@pytest.mark.parametrize("body", [7, {"a": [1, 2.5, None, True], "ж": {"c": "d"}}, "text", None, []])
def test_json_comes_back_as_the_same_json(db: Db, body: Any) -> None:
    one(db, "select howdah.send('q', %s::jsonb)", (Jsonb(body),))
    (message,) = receive(db)
    assert message.body is not None
    assert (json.loads(message.body), message.content_type) == (body, "application/json")


@pytest.mark.behaviour("AMQ-23")
def test_map_entries_keep_their_types(db: Db) -> None:
    quote = {"stock": "SUNW", "price": 12.5, "offer": 12.75, "up": True}
    one(db, "select howdah.send('q', %s::jsonb)", (Jsonb(quote),))
    (message,) = receive(db)
    assert message.body is not None
    back = json.loads(message.body)
    assert back == quote
    assert {key: type(value) for key, value in back.items()} == {key: type(value) for key, value in quote.items()}


def test_an_untyped_literal_is_text(db: Db) -> None:
    one(db, "select howdah.send('q', '{\"a\": 1}')")
    assert receive(db)[0].content_type == "text/plain"


def test_every_property_comes_back(db: Db, clock: Clock) -> None:
    conversation = uuid4()
    sent = one(
        db,
        "select howdah.send('q', 'x', headers => %s, priority => 9, correlation_id => 'c', reply_to => 'r',"
        " message_type => 't', conversation_id => %s, time_to_live => '1 minute')",
        (Jsonb({"a": {"b": 1}}), conversation),
    )
    assert one(db, "select conversation_id from howdah.browse('q')") == conversation
    (message,) = receive(db)
    assert (message.message_id, message.headers, message.priority) == (sent, {"a": {"b": 1}}, 9)
    assert (message.correlation_id, message.reply_to, message.message_type) == ("c", "r", "t")
    assert (message.sent_at, message.expires_at) == (clock.now, clock.now + timedelta(minutes=1))
    assert (message.delivery_count, message.redelivered, message.stage) == (1, False, 0)
    assert (message.origin_queue, message.dead_reason, message.dead_at) == (None, None, None)


def test_what_is_left_out_takes_the_queues_defaults(db: Db, clock: Clock) -> None:
    one(db, "select howdah.send('q', 'x', null, null, null, null, null, null, null, null)")
    one(db, """select howdah.alter_queue('q', '{"default_priority": 8, "default_time_to_live_ms": 60000}')""")
    one(db, "select howdah.send('q', 'y')")
    y, x = receive(db, n=2)
    assert (x.priority, x.expires_at, x.delivery_mode) == (4, None, "persistent")
    assert (y.priority, y.expires_at) == (8, clock.now + timedelta(minutes=1))


@pytest.mark.behaviour("AMQ-09")
def test_delivery_mode_priority_and_time_to_live_are_kept_and_the_message_expires(db: Db, clock: Clock) -> None:
    send = "select howdah.send('q', 'x', delivery_mode => 'non-persistent', priority => 0, time_to_live => '1000 ms')"
    one(db, send)
    (seen,) = receive(db, verb="browse")
    assert (seen.delivery_mode, seen.priority, seen.expires_at) == (
        "non-persistent", 0, clock.now + timedelta(seconds=1)
    )  # fmt: skip
    clock.advance(0.999)
    assert len(receive(db, verb="browse")) == 1
    clock.advance(0.001)
    assert receive(db, verb="browse") == []
    assert receive(db) == []
    assert column(db, "select event from howdah.audit_journal") == ["expired"]


@pytest.mark.behaviour("AMQ-35")
def test_the_default_delivery_mode_is_persistent_and_lies_in_the_logged_table(db: Db) -> None:
    one(db, "select howdah.send('q', 'x')")
    assert one(db, "select tableoid::regclass::text from howdah.msgs") == "howdah.msgs"
    assert one(db, "select relpersistence from pg_class where oid = 'howdah.msgs'::regclass") == "p"


@pytest.mark.behaviour("IMQ-03")
def test_persistent_and_other_messages_lie_in_tables_of_their_own_whose_size_can_be_asked(db: Db) -> None:
    one(db, "select howdah.send('q', 'x', delivery_mode => 'non-persistent')")
    one(db, "select howdah.send('q', 'y')")
    assert one(db, "select count(*) from howdah.msgs") == 1
    assert one(db, "select count(*) from howdah.msgs_nonpersistent") == 1
    assert one(db, "select relpersistence from pg_class where oid = 'howdah.msgs_nonpersistent'::regclass") == "u"
    assert one(db, "select min(pg_total_relation_size(c)) from (values ('howdah.msgs'::regclass),"
               " ('howdah.msgs_nonpersistent')) v(c)") > 0  # fmt: skip
    rows = db.execute(
        "select nonpersistent, count(*), sum(body_bytes) from howdah.audit_messages group by 1 order by 1"
    )
    assert rows.fetchall() == [(False, 1, 1), (True, 1, 1)]


def test_a_rolled_back_send_leaves_nothing(db: Db) -> None:
    with db.transaction(force_rollback=True):
        one(db, "select howdah.send('q', 'x')")
        one(db, "select howdah.send('q', 'x', delay => '1 s')")
        one(db, "select howdah.send('q', 'x', delivery_mode => 'non-persistent')")
    assert one(db, "select count(*) from howdah.audit_messages") == 0


@pytest.mark.behaviour("AMQ-10")
@pytest.mark.behaviour("IMQ-02")
def test_nobody_receives_a_message_before_its_sender_commits_and_the_sender_may_be_gone_then(
    db: Db, connect: Connect
) -> None:
    producer = connect("howdah_producer")
    with producer.transaction():
        sent = one(producer, "select howdah.send('q', 'x')")
        assert receive(db) == []
    producer.close()
    assert [m.message_id for m in receive(db)] == [sent]


def test_a_second_send_is_a_second_message(db: Db) -> None:
    assert one(db, "select howdah.send('q', 'x')") < one(db, "select howdah.send('q', 'x')")
    assert len(receive(db, n=9)) == 2


def test_the_name_of_the_sender_is_that_behind_set_role(db: Db, connect: Connect) -> None:
    producer = connect("howdah_producer")
    one(producer, "select howdah.send('q', 'x')")
    for query in ("select howdah.receive('q')", "select howdah.browse('q')", "select howdah.purge_queue('q')"):
        refused(producer, "42501", query)


def test_bad_input_to_send_is_refused(db: Db) -> None:
    one(db, """select howdah.alter_queue('q', '{"max_message_bytes": 10}')""")
    cases = [("HD001", f"select howdah.send({name}, 'x')") for name in ("'none'", "null", "''", "'a;b'", "'q''--'")]
    for kind in ("text", "jsonb", "bytea"):
        cases += [
            ("HD005", f"select howdah.send('q', null::{kind})"),
            ("HD006", f"select howdah.send('q', '1'::{kind}, priority => 10)"),
            ("HD006", f"select howdah.send('q', '1'::{kind}, priority => -1)"),
            ("HD006", f"select howdah.send('q', '1'::{kind}, priority => 2147483647)"),
            ("HD005", f"select howdah.send('q', '1'::{kind}, headers => '[1]')"),
            ("HD005", f"select howdah.send('q', '1'::{kind}, headers => 'null')"),
            ("HD005", f"select howdah.send('q', '1'::{kind}, headers => '7')"),
            ("22P02", f"select howdah.send('q', '1'::{kind}, headers => 'no json')"),
            ("HD005", f"select howdah.send('q', '1'::{kind}, content_type => null)"),
            ("HD005", f"select howdah.send('q', '1'::{kind}, content_type => '')"),
            ("HD005", f"select howdah.send('q', '1'::{kind}, time_to_live => '0')"),
            ("HD005", f"select howdah.send('q', '1'::{kind}, time_to_live => '-1 s')"),
            ("HD005", f"select howdah.send('q', '1'::{kind}, time_to_live => '100000 years')"),
            ("HD005", f"select howdah.send('q', '1'::{kind}, delay => '-1 s')"),
            ("HD005", f"select howdah.send('q', '1'::{kind}, delay => '100000 years')"),
            ("HD005", f"select howdah.send('q', '1'::{kind}, delivery_mode => 'PERSISTENT')"),
            ("42883", f"select howdah.send('q', '1'::{kind}, priority => '{{}}'::jsonb)"),
            ("22P02", f"select howdah.send('q', '1'::{kind}, conversation_id => 'x')"),
        ]
    cases += [
        ("HD007", "select howdah.send('q', 'eleven long')"),
        ("HD007", "select howdah.send('q', 'äääääx')"),
        ("HD007", "select howdah.send('q', '12345678901'::jsonb)"),
        ("HD007", "select howdah.send('q', 'eleven long'::bytea)"),
        ("42883", "select howdah.send('q', 7)"),
    ]
    if db.info.server_version >= 170000:
        cases += [
            ("HD005", f"select howdah.send('q', 'x', {name} => 'infinity')") for name in ("delay", "time_to_live")
        ]
    all_refused(db, cases)


@pytest.mark.behaviour("IMQ-44")
def test_a_body_of_exactly_the_limit_is_taken_and_one_byte_more_is_not(db: Db) -> None:
    assert one(db, "select max_message_bytes from howdah.list_queues() where queue = 'q'") == 70 * 1024 * 1024
    one(db, """select howdah.alter_queue('q', '{"max_message_bytes": 1000}')""")
    one(db, "select howdah.send('q', %b)", (b"x" * 1000,))
    said = refused(db, "HD007", "select howdah.send('q', %b)", (b"x" * 1001,)).message_primary
    assert said is not None
    assert "1001" in said
    assert "1000" in said


def test_an_error_says_what_to_do(db: Db) -> None:
    assert "create_queue" in str(refused(db, "HD001", "select howdah.send('none', 'x')").message_hint)
    one(db, "select howdah.pause('q')")
    assert "resume" in str(refused(db, "HD008", "select howdah.send('q', 'x')").message_hint)


@pytest.mark.behaviour("IMQ-30")
def test_ten_sends_and_five_receives_of_one_transaction_happen_together_or_not_at_all(db: Db) -> None:
    one(db, "select howdah.create_queue('out')")
    db.execute("select howdah.send('q', 'x') from generate_series(1, 5)")
    for commit in (False, True):
        with db.transaction(force_rollback=not commit):
            assert len(receive(db, n=5)) == 5
            for _ in range(10):
                one(db, "select howdah.send('out', 'y')")
        assert len(receive(db, "out", 20, "browse")) == 10 * commit
        assert len(receive(db, "q", 20, "browse")) == 5 - 5 * commit


def test_a_caller_at_any_isolation_level_may_send(db: Db) -> None:
    for level in ("repeatable read", "serializable"):
        with db.transaction():
            db.execute(f"set transaction isolation level {level}".encode())
            one(db, "select howdah.send('q', 'x')")
            one(db, "select howdah.send('q', 'x', delay => '1 hour')")
            one(db, "select howdah.send('q', 'x', delivery_mode => 'non-persistent')")
            assert len(receive(db, n=2)) == 2


def test_a_callers_search_path_and_objects_change_nothing(db: Db, connect: Connect) -> None:
    db.execute(
        "create schema evil; grant all on schema evil to public;"
        " create function evil.octet_length(bytea) returns integer language sql as 'select 1/0';"
        " create function evil.nextval(text) returns bigint language sql as 'select 1/0'"
    )
    producer = connect("howdah_producer")
    producer.execute("set search_path = evil, pg_catalog; create temp table destinations (name text);"
                     " create temp table msgs (x int)")  # fmt: skip
    one(producer, "select howdah.send('q', 'x')")
    assert len(receive(db)) == 1
