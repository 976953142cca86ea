"""Loads by COPY: a table that only its transaction sees, and one call that sends what was copied into it."""

from __future__ import annotations

import pytest
from policy_support import Create
from support import Connect, Db, column, one, refused

COPY = "copy pg_temp.howdah_copy ({}) from stdin"


def load(db: Db, text: str, columns: str = "body", body_type: str = "text") -> None:
    """Begin a copy in the open transaction, and copy lines into it."""
    one(db, "select howdah.begin_copy(%s)", (body_type,))
    with db.cursor().copy(COPY.format(columns).encode()) as copy:
        copy.write(text)


def test_what_was_copied_is_sent_in_its_order_by_one_call(db: Db, create: Create) -> None:
    create()
    with db.transaction():
        load(db, "".join(f"{n}\n" for n in range(30_000)))
        assert one(db, "select howdah.send_copied('q')") == 30_000
    for first in range(0, 30_000, 10_000):
        expected = [str(n) for n in range(first, first + 10_000)]
        assert column(db, "select body from howdah.receive('q', 10000)") == expected


@pytest.mark.slow
def test_long_bodies_are_sent_in_parts_that_memory_holds_and_in_order(db: Db, create: Create) -> None:
    create()
    one(db, "select setseed(0.5)")
    with db.transaction():
        one(db, "select howdah.begin_copy()")
        db.execute("alter table pg_temp.howdah_copy alter body set storage external")
        db.execute(
            "insert into pg_temp.howdah_copy (body, correlation_id)"
            " select repeat(n::text, case when n % 3 = 0 then 1000000 else 3 end), n from generate_series(10, 99) n"
        )
        assert one(db, "select howdah.send_copied('q')") == 90
    query = "select correlation_id || ' ' || octet_length(body) from howdah.receive('q', 100)"
    assert column(db, query) == [f"{n} {2_000_000 if n % 3 == 0 else 6}" for n in range(10, 100)]


def test_a_copy_says_of_each_message_what_a_batch_can_say(db: Db, create: Create) -> None:
    create()
    columns = "body, headers, priority, correlation_id, message_type, conversation_id, deduplication_key"
    with db.transaction():
        load(
            db,
            '{"a":1}\t{"h": 2}\t9\tc\tt\t00000000-0000-0000-0000-000000000007\tk\n{}' + "\t\\N" * 6,
            columns,
            "jsonb",
        )
        query = (
            "select howdah.send_copied('q', reply_to => 'answers', time_to_live => '1 h',"
            " delivery_mode => 'non-persistent')"
        )
        assert one(db, query) == 2
    shown = (
        "body, headers, priority, correlation_id, message_type, conversation_id::text, reply_to,"
        " content_type, delivery_mode"
    )
    rows = db.execute(f"select {shown}, expires_at - sent_at = '1 h' from howdah.receive('q', 9)".encode()).fetchall()
    assert rows == [
        ('{"a": 1}', {"h": 2}, 9, "c", "t", "00000000-0000-0000-0000-000000000007", "answers", "application/json",
         "non-persistent", True),
        ("{}", None, 4, None, None, None, "answers", "application/json", "non-persistent", True),
    ]  # fmt: skip
    with db.transaction():
        load(db, "again\tk\n", "body, deduplication_key")
        one(db, "select howdah.send_copied('q')")
    assert one(db, "select live from howdah.queue_stats('q')") == 0


def test_a_copy_goes_to_topics_and_to_several_destinations(db: Db, create: Create) -> None:
    create()
    one(db, "select howdah.create_topic('t')")
    one(db, "select howdah.subscribe('t', 's')")
    with db.transaction():
        load(db, "\\\\x00ff\n", body_type="bytea")
        assert one(db, "select howdah.send_copied('q,topic://t')") == 1
    for source in ("q", "t::s"):
        query = "select bytes from howdah.receive(%s)"
        assert column(db, query, (source,)) == [b"\x00\xff"]


def test_what_was_copied_to_a_topic_reaches_each_subscription_in_its_order(db: Db) -> None:
    one(db, "select howdah.create_topic('t')")
    names = [one(db, "select howdah.subscribe('t', %s)", (name,)) for name in ("a", "b")]
    with db.transaction():
        load(db, "".join(f"{n}\n" for n in range(12_000)))
        assert one(db, "select howdah.send_copied('t')") == 12_000
    for want in (10_000, 700):
        name = names.pop()
        got = [
            body
            for _ in range(12_000 // want + 1)
            for body in column(db, f"select body from howdah.receive('{name}', {want})")
        ]
        assert got == [str(n) for n in range(12_000)]


def test_several_copies_of_one_transaction_follow_each_other(db: Db, create: Create) -> None:
    create()
    with db.transaction():
        for body, kind in (("a", "text"), ("1", "jsonb"), ("b", "text"), ("c", "bytea")):
            load(db, f"{body}\n", body_type=kind)
            assert one(db, "select howdah.send_copied('q')") == 1
    query = "select coalesce(body, convert_from(bytes, 'UTF8')) from howdah.receive('q', 9)"
    assert column(db, query) == ["a", "1", "b", "c"]


def test_a_copy_ends_with_its_transaction_or_savepoint(db: Db, create: Create) -> None:
    create()
    with db.transaction(force_rollback=True):
        load(db, "a\n")
        refused(db, "HD005", "select howdah.begin_copy()")
    refused(db, "HD005", "select howdah.send_copied('q')")
    with db.transaction():
        with db.transaction(force_rollback=True):
            load(db, "b\n")
            one(db, "select howdah.send_copied('q')")
        load(db, "c\n")
        one(db, "select howdah.send_copied('q')")
    assert column(db, "select body from howdah.receive('q', 9)") == ["c"]


@pytest.mark.parametrize(
    ("sqlstate", "text", "columns", "queue"),
    [
        ("HD001", "a\n", "body", "nowhere"),
        ("HD005", "a\n\\N\n", "body", "q"),
        ("HD006", "a\t10\n", "body, priority", "q"),
        ("HD007", "a\n" + "x" * 2000 + "\n", "body", "q"),
        ("HD018", "a\nb\nc\nd\n", "body", "q"),
    ],
)
def test_a_copy_that_cannot_be_sent_sends_nothing(
    db: Db, create: Create, sqlstate: str, text: str, columns: str, queue: str
) -> None:
    create(max_message_bytes=1000, message_limit=3)
    with db.transaction():
        load(db, text, columns)
        refused(db, sqlstate, "select howdah.send_copied(%s)", (queue,))
    assert one(db, "select live from howdah.queue_stats('q')") == 0
    refused(db, "HD005", "select howdah.begin_copy('xml')")
    refused(db, "HD005", "select howdah.begin_copy(null)")


def test_a_producer_copies_and_can_do_no_more_with_the_table(db: Db, create: Create, connect: Connect) -> None:
    create()
    for role, sqlstate in (("howdah_producer", None), ("howdah_consumer", "42501")):
        session = connect(role)
        if sqlstate is not None:
            refused(session, sqlstate, "select howdah.begin_copy()")
            refused(session, sqlstate, "select howdah.send_copied('q')")
            continue
        with session.transaction():
            load(session, "a\n")
            for act in (
                "select from pg_temp.howdah_copy",
                "update pg_temp.howdah_copy set body = 'b'",
                "alter table pg_temp.howdah_copy enable row level security",
                "create rule r as on select to pg_temp.howdah_copy do instead select 1",
                (
                    "create trigger t before insert on pg_temp.howdah_copy for each row execute function"
                    " suppress_redundant_updates_trigger()"
                ),
            ):
                refused(session, "42501", act)
            assert one(session, "select howdah.send_copied('q')") == 1
    assert column(db, "select body from howdah.browse('q')") == ["a"]


def test_a_table_of_the_callers_own_is_not_read(db: Db, create: Create, connect: Connect) -> None:
    create()
    session = connect("howdah_producer")
    with session.transaction(force_rollback=True):
        session.execute("create temporary table howdah_copy (body text)")
        refused(session, "HD005", "select howdah.send_copied('q')")
        refused(session, "HD005", "select howdah.begin_copy()")
