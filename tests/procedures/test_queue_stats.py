"""The statistics of a queue follow what happens, and count each message once."""

from datetime import timedelta

import pytest
from support import SYSTEM, Clock, Connect, Db, deliver_and_fail, one, receive

from howdah.procedures import source


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")


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
