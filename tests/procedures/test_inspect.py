"""browse, incidents, queue_stats, the journal and the views: looking changes nothing and tells the truth."""

from datetime import timedelta
from typing import Any

import pytest
from support import SYSTEM, Clock, Connect, Db, all_refused, column, contents, deliver_and_fail, one, receive, refused

from howdah.procedures import source


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")


def test_browsing_pages_through_everything_in_order_of_delivery_and_disturbs_nobody(db: Db, connect: Connect) -> None:
    for number in range(12):
        mode = "non-persistent" if number % 5 == 0 else "persistent"
        one(db, "select howdah.send('q', %s, priority => %s, delivery_mode => %s)", (str(number), number % 3, mode))
    everything = receive(db, n=100, verb="browse")
    assert [m.body for m in everything] == ["2", "5", "8", "11", "1", "4", "7", "10", "0", "3", "6", "9"]

    before = contents(db)
    browser, consumer = connect("howdah_browser"), connect()
    with consumer.transaction(force_rollback=True):
        receive(consumer, n=4)
        pages: list[int] = []
        after: tuple[int | None, int | None] = (None, None)
        while page := browser.execute(
            "select message_id, priority, position from howdah.browse('q', 5, %s, %s)", after
        ).fetchall():
            pages += [row[0] for row in page]
            after = (page[-1][1], page[-1][2])
    assert pages == [m.message_id for m in everything]
    assert contents(db) == before


def test_browse_shows_failures_and_hides_expired_and_parked_messages(db: Db, clock: Clock) -> None:
    one(db, "select howdah.send('q', 'old', time_to_live => '1 s')")
    one(db, "select howdah.send('q', 'parked', delay => '1 h')")
    clock.advance(1)
    one(db, "select howdah.send('q', 'x')")
    assert deliver_and_fail(db) == (1, "returned")
    assert [(m.body, m.delivery_count, m.redelivered) for m in receive(db, n=9, verb="browse")] == [("x", 2, True)]


def test_incidents_are_given_newest_first_of_a_queue_or_a_message(db: Db) -> None:
    ids = one(db, "select howdah.send_batch('q', array['a', 'b'])")
    one(db, "select count(*) from howdah.record_failures('q', jsonb_build_array(%s::jsonb, %s::jsonb))",
        (f'{{"message_id": {ids[0]}}}', f'{{"message_id": {ids[1]}}}'))  # fmt: skip
    assert column(db, "select message from howdah.incidents('q')") == [ids[1], ids[0]]
    assert column(db, "select message from howdah.incidents(message_id => %s)", (ids[0],)) == [ids[0]]
    assert column(db, "select message from howdah.incidents(max_incidents => 1)") == [ids[1]]
    db.execute("delete from howdah.destination_grants where verb = 'browse'")
    assert column(db, "select message from howdah.incidents()") == []


def test_bad_input_to_the_lookers_is_refused(db: Db) -> None:
    all_refused(
        db,
        [
            ("HD001", "select howdah.browse('none')"),
            ("HD001", "select howdah.browse(null)"),
            ("HD005", "select howdah.browse('q', null)"),
            ("HD005", "select howdah.browse('q', 0)"),
            ("HD005", "select howdah.browse('q', -1)"),
            ("HD005", "select howdah.browse('q', 10001)"),
            ("HD005", "select howdah.browse('q', 10, 10, 1)"),
            ("HD005", "select howdah.browse('q', 10, -1, 1)"),
            ("HD005", "select howdah.browse('q', 10, 100000, 1)"),
            ("HD005", "select howdah.browse('q', 10, null, 1)"),
            ("HD001", "select howdah.incidents('none')"),
            ("HD005", "select howdah.incidents('q', max_incidents => null)"),
            ("HD005", "select howdah.incidents('q', max_incidents => 0)"),
            ("HD005", "select howdah.incidents('q', max_incidents => -1)"),
            ("HD001", "select howdah.queue_stats('none')"),
        ],
    )


@pytest.mark.behaviour("AMQ-12")
@pytest.mark.behaviour("IMQ-04")
def test_statistics_after_ten_sends_and_four_receives(db: Db, clock: Clock) -> None:
    one(db, "select howdah.send_batch('q', array(select 'x' from generate_series(1, 10)))")
    clock.advance(5)
    assert len(receive(db, n=4)) == 4
    one(db, "select howdah.register_worker('w', 'h', 1, 2, array['q', 'other'])")
    query = "select live, consumers, enqueued, dequeued, consumed, oldest_age, exact from howdah.queue_stats('q')"
    expected = [(6, 1, 10, 4, 4, timedelta(seconds=5), True)]
    assert db.execute(query.encode()).fetchall() == expected
    one(db, "select howdah.maintain_totals()")
    assert db.execute(query.encode()).fetchall() == expected


@pytest.mark.behaviour("AMQ-17")
def test_every_counter_of_a_queue_has_a_column_that_follows_what_happens(db: Db, clock: Clock) -> None:
    one(db, """select howdah.alter_queue('q', '{"max_failed_deliveries": 1}')""")
    for extra in ("", ", delay => '1 h'", ", time_to_live => '1 s'", ", delivery_mode => 'non-persistent'"):
        one(db, f"select howdah.send('q', 'x'{extra})")
    assert deliver_and_fail(db)[1] == "moved"
    clock.advance(1)
    assert len(receive(db)) == 1
    gone = one(db, "select howdah.send('q', 'x')")
    assert len(receive(db, n=2, verb="browse")) == 1
    one(db, "select howdah.discard('q', %s)", ([gone],))
    worker = one(db, "select howdah.register_worker('w', 'h', 1, 2, array['q'])")
    one(db, "select howdah.heartbeat(%s, '{\"q\": 3.0}')", (worker,))
    for _ in range(2):
        row = db.execute(
            "select live, parked, dead, enqueued, dequeued, consumed, expired, discarded, moved_out, moved_in, lost,"
            " in_hand, consumers from howdah.queue_stats('q')"
        ).fetchall()
        assert row[0][1:3] == (1, 1)
        assert (row[0][5], row[0][7:13]) == (1, (1, 1, 0, 0, 3, 1))
        assert row[0][3] == 5 == row[0][0] + row[0][1] + row[0][4]
        one(db, "select howdah.maintain_totals()")
    assert one(db, "select moved_in from howdah.queue_stats(%s)", (SYSTEM,)) == 1
    assert one(db, "select count(*) from howdah.queue_stats()") == 2
    clock.advance(61)
    assert db.execute("select in_hand, consumers from howdah.queue_stats('q')").fetchall() == [(0, 0)]


def test_the_auditor_sees_the_statistics_of_a_queue(connect: Connect) -> None:
    auditor = connect("howdah_auditor")
    assert one(auditor, "select live from howdah.queue_stats('q')") == 0
    assert one(auditor, "select count(*) from howdah.queue_stats()") == 2


def test_a_transaction_that_commits_late_is_counted_once(db: Db, connect: Connect) -> None:
    one(db, "select howdah.send_batch('q', array['a', 'b'])")
    late = connect()
    late.execute("begin")
    assert len(receive(late)) == 1
    assert len(receive(db)) == 1
    one(db, "select howdah.maintain_totals()")
    consumed = "select consumed from howdah.queue_stats('q')"
    assert one(db, consumed) == 1
    late.execute("commit")
    assert one(db, consumed) == 2
    for _ in range(2):
        one(db, "select howdah.maintain_totals()")
        assert one(db, consumed) == 2


def test_levels_of_the_journal(db: Db) -> None:
    for level, events in (("off", []), ("exits", ["consumed"]), ("full", ["consumed", "sent"])):
        one(db, "select howdah.create_queue(%s, jsonb_build_object('journal_level', %s::text))", (level, level))
        one(db, "select howdah.send(%s, 'x')", (level,))
        assert len(receive(db, level)) == 1
        assert column(db, "select event from howdah.audit_journal where queue = %s order by 1", (level,)) == events


def test_a_journal_row_names_its_transaction_and_its_week(db: Db) -> None:
    one(db, "select howdah.send('q', 'x')")
    with db.transaction():
        receive(db)
        with db.transaction():
            receive(db)
        xid = one(db, "select pg_current_xact_id()::text::bigint")
    rows = db.execute("select xid, tableoid::regclass::text ~ '^howdah.journal_[0-9]{4}w[0-9]{2}$' from howdah.journal")
    assert rows.fetchall() == [(xid, True)]


@pytest.mark.behaviour("AMQ-59")
def test_the_three_tables_of_activemq_are_there(db: Db) -> None:
    for name in ("activemq_msgs", "activemq_acks", "activemq_lock"):
        assert one(db, "select to_regclass(%s) is not null", (f"howdah.{name}",))


@pytest.mark.behaviour("AMQ-59")
@pytest.mark.behaviour("AMQ-60")
def test_activemq_msgs_holds_each_message_until_it_is_acknowledged(db: Db, clock: Clock) -> None:
    one(db, """select howdah.alter_queue('q', '{"redelivery_delay_ms": 1000}')""")
    rows = "select id, container, convert_from(msg, 'UTF8'), priority from howdah.activemq_msgs order by 3"
    large = "L" * 5000
    ways: dict[str, dict[str, Any]] = {
        "cheap": {"delivery_mode": "non-persistent"},
        "cheap and late": {"delivery_mode": "non-persistent", "delay": "1 h"}, "failed": {}, "high": {"priority": 9},
        "late": {"delay": "1 h"}, large: {}, "ready": {},
    }  # fmt: skip
    sent = {}
    for body, options in ways.items():
        names = "".join(f", {name} => %s" for name in options)
        sent[body] = one(db, f"select howdah.send('q', %s{names})", (body, *options.values()))
    expected = [(sent[b], "queue://q", b, ways[b].get("priority", 4)) for b in sorted(ways)]
    assert db.execute(rows.encode()).fetchall() == expected
    one(db, "select howdah.record_failure('q', %s)", (sent["failed"],))
    assert one(db, "select parked from howdah.queue_stats('q')") == 3
    assert db.execute(rows.encode()).fetchall() == expected, (
        "a message that waits for its redelivery is not acknowledged"
    )
    leases = db.execute("select lease, message_id from howdah.lease('q', 9, '1 min')").fetchall()
    leases += db.execute("select lease, message_id from howdah.lease('q', 9, '1 min')").fetchall()
    assert {number for _, number in leases} == {sent[b] for b in ("cheap", "high", large, "ready")}
    assert db.execute(rows.encode()).fetchall() == expected, "nor is one that a consumer has under a lease"
    for lease, number in leases:
        one(db, "select howdah.ack('q', %s, %s)", (lease, [number]))
    assert [row[2] for row in db.execute(rows.encode())] == ["cheap and late", "failed", "late"]


ACTIVEMQ = {
    "activemq_msgs": {
        "id": "bigint", "container": "text", "msgid_prod": "text", "msgid_seq": "bigint", "expiration": "bigint",
        "msg": "bytea", "priority": "bigint", "xid": "text",
    },
    "activemq_acks": {
        "container": "text", "sub_dest": "text", "client_id": "text", "sub_name": "text", "selector": "text",
        "last_acked_id": "bigint", "priority": "bigint", "xid": "text",
    },
    "activemq_lock": {"id": "bigint", "time": "bigint", "broker_name": "text"},
}  # fmt: skip


@pytest.mark.behaviour("AMQ-60")
@pytest.mark.parametrize("name", ACTIVEMQ)
def test_they_have_activemqs_columns(db: Db, name: str) -> None:
    rows = db.execute(
        "select column_name::text, data_type::text from information_schema.columns"
        " where table_schema = 'howdah' and table_name = %s",
        (name,),
    ).fetchall()
    assert dict(rows) == ACTIVEMQ[name]


def test_activemqs_view_is_filled_from_the_messages(db: Db, clock: Clock) -> None:
    sent = one(db, "select howdah.send('q', 'x', priority => 7, time_to_live => '1 s')")
    expiration = round((clock.now + timedelta(seconds=1)).timestamp() * 1000)
    assert db.execute("select * from howdah.activemq_msgs").fetchall() == [
        (sent, "queue://q", "ID:howdah-howdah", sent, expiration, b"x", 7, None)
    ]
    one(db, "select howdah.acquire_lock('maintenance', 'me')")
    assert db.execute("select broker_name from howdah.activemq_lock where id = 1").fetchall() == [("me",)]


def test_activemqs_view_has_bodies_only_for_those_who_may_browse(db: Db, connect: Connect) -> None:
    one(db, "select howdah.create_queue('open')")
    one(db, "select howdah.create_topic('news')")
    one(db, "select howdah.subscribe('news', 's')")
    for name in ("q", "open", "news"):
        one(db, "select howdah.send(%s, %s)", (name, name))
    answers = one(db, "select howdah.create_temporary_queue()")
    one(db, "select howdah.send(%s, 'for one connection')", (answers,))
    one(db, "select howdah.revoke_queue('q', 'browse', 'howdah_auditor')")
    one(db, "select howdah.revoke_queue('news', 'browse', 'howdah_auditor')")
    shown = "select container, convert_from(msg, 'UTF8') from howdah.activemq_msgs order by id % 1000000"
    temporary = (f"queue://{answers}", None)
    auditor = connect("howdah_auditor")
    assert set(auditor.execute(shown)) == {
        ("queue://q", None),
        ("queue://open", "open"),
        ("topic://news", None),
        temporary,
    }
    admin = connect("howdah_admin")
    assert set(admin.execute(shown)) == {
        ("queue://q", "q"),
        ("queue://open", "open"),
        ("topic://news", "news"),
        temporary,
    }


def test_the_accounts_of_a_busy_queue_balance(db: Db, clock: Clock) -> None:
    one(db, """select howdah.alter_queue('q', '{"max_failed_deliveries": 2, "journal_level": "full"}')""")
    for turn in range(40):
        one(db, "select howdah.send('q', 'x', delay => %s, time_to_live => %s, delivery_mode => %s)",
            ("3 s" if turn % 4 == 0 else None, "2 s" if turn % 5 == 0 else None,
             "non-persistent" if turn % 3 == 0 else "persistent"))  # fmt: skip
        clock.advance(0.5)
        if turn % 2 and receive(db, verb="browse"):
            with db.transaction(force_rollback=True):
                got = receive(db)
            if got:
                one(db, "select count(*) from howdah.record_failure('q', %s)", (got[0].message_id,))
        if turn % 7 == 0:
            receive(db, n=2)
        if turn % 11 == 0:
            one(db, "select howdah.replay(%s)", (SYSTEM,))
            one(db, "select howdah.maintain_totals()")
    accounts = db.execute(
        "select q.queue, (select count(*) from howdah.audit_journal j where j.queue = q.queue and event = 'sent')"
        " + (select count(*) from howdah.audit_journal j where j.other_queue = q.queue),"
        " (select count(*) from howdah.audit_journal j where j.queue = q.queue and event <> 'sent')"
        " + (select count(*) from howdah.audit_messages m where m.queue = q.queue) from howdah.list_queues() q"
    ).fetchall()
    assert len(accounts) == 2
    for queue, came, went_or_stays in accounts:
        assert came == went_or_stays > 0, queue


@pytest.mark.behaviour("IMQ-57")
def test_no_table_can_be_read_but_through_the_functions(db: Db, connect: Connect) -> None:
    tables = column(db, "select oid::regclass::text from pg_class where relnamespace = 'howdah'::regnamespace"
                        " and relkind in ('r', 'p', 'S')")  # fmt: skip
    assert len(tables) > 15
    for role in ("admin", "producer", "consumer", "browser", "auditor"):
        session = connect(f"howdah_{role}")
        for table in tables:
            refused(session, "42501", f"select * from {table}")
        refused(session, "42501", "select howdah._destination('q', 'send')")
    db.execute(f"drop role if exists howdah_test_nobody_{db.info.backend_pid}".encode())
    db.execute(f"create role howdah_test_nobody_{db.info.backend_pid}".encode())
    try:
        nobody = connect(f"howdah_test_nobody_{db.info.backend_pid}")
        refused(nobody, "42501", "select * from howdah.msgs")
        refused(nobody, "42501", "select howdah.send('q', 'x')")
        refused(nobody, "42501", "select howdah.now()")
    finally:
        db.execute(f"drop role howdah_test_nobody_{db.info.backend_pid}".encode())


def test_of_a_busy_database_the_journal_is_not_read_at_every_look(db: Db, clock: Clock) -> None:
    db.execute("select howdah.send_batch('q', array['a', 'b', 'c'])")
    receive(db)
    one(db, "select howdah.maintain_totals()")
    receive(db)
    stats = "select consumed::text || exact::text from howdah.queue_stats('q')"
    assert one(db, stats) == "2true"
    # All databases of the server draw the same transaction numbers: using up thousands would tell the other tests' too.
    db.execute(source("journal/_totals_will_do").replace("> 20000", "> 20").encode())
    for _ in range(21):
        one(db, "select pg_current_xact_id()::text")
    clock.advance(30)
    assert one(db, stats) == "1false"
    assert one(db, "select figures_age from howdah.queue_stats('q')") == timedelta(seconds=30)
    clock.advance(91)
    assert one(db, stats) == "2true"
