"""Browsing, incidents and the journal tell the truth, and looking changes nothing."""

import pytest
from support import Clock, Connect, Db, all_refused, column, contents, deliver_and_fail, one, receive, refused


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
