"""Locks, workers and maintenance."""

import threading
from datetime import timedelta

import pytest
from support import Clock, Connect, Db, all_refused, column, one, refused, wait_until_blocked

ACQUIRE = "select howdah.acquire_lock('maintenance', %s, 10)"


@pytest.mark.behaviour("AMQ-63")
def test_of_two_engines_one_holds_the_lock_and_the_other_waits(db: Db, connect: Connect, clock: Clock) -> None:
    other = connect("howdah_consumer")
    assert one(db, ACQUIRE, ("a",)) == 1
    assert one(other, ACQUIRE, ("b",)) is None
    assert one(db, ACQUIRE, ("a",)) == 1
    one(db, "select howdah.release_lock('maintenance', 1, 'a')")
    assert one(other, ACQUIRE, ("b",)) == 2


def test_a_slave_takes_over_when_the_lease_is_over_and_the_old_master_can_do_nothing_more(
    db: Db, connect: Connect, clock: Clock
) -> None:
    master = connect()
    epoch = one(master, ACQUIRE, ("a",))
    one(db, "select pg_terminate_backend(%s, 10000)", (master.info.backend_pid,))
    clock.advance(9.9)
    assert one(db, ACQUIRE, ("b",)) is None
    clock.advance(0.1)
    assert one(db, ACQUIRE, ("b",)) == epoch + 1
    for job in ("workers", "totals", "backlog", "journal", "dropped"):
        refused(db, "HD014", f"select howdah.maintain_{job}(%s)", (epoch,))
        one(db, f"select howdah.maintain_{job}(%s)", (epoch + 1,))
    refused(db, "HD014", "select howdah.release_lock('maintenance', %s, 'a')", (epoch,))
    assert one(db, ACQUIRE, ("a",)) is None


def test_an_expired_lease_is_nobodys_and_its_holder_gets_a_new_epoch(db: Db, clock: Clock) -> None:
    assert one(db, ACQUIRE, ("a",)) == 1
    clock.advance(10)
    refused(db, "HD014", "select howdah.maintain_totals(1)")
    refused(db, "HD014", "select howdah.release_lock('maintenance', 1, 'a')")
    assert one(db, ACQUIRE, ("a",)) == 2


@pytest.mark.parametrize("name", ["maintenance", "new"])
def test_who_takes_a_lease_in_an_open_transaction_holds_nobody_up(db: Db, connect: Connect, name: str) -> None:
    other, query = connect("howdah_consumer"), "select howdah.acquire_lock(%s, %s)"
    other.execute("set statement_timeout = '20s'")
    with db.transaction(force_rollback=True):
        assert one(db, query, (name, "a")) == 1
        assert one(other, query, (name, "b")) is None
    assert one(other, query, (name, "b")) == 1


def test_a_holder_waits_for_its_own_fenced_work_and_keeps_its_lease(db: Db, connect: Connect) -> None:
    epoch = one(db, ACQUIRE, ("a",))
    other = connect()
    got: list[object] = []
    with db.transaction():
        one(db, "select howdah.maintain_workers(%s)", (epoch,))
        thread = threading.Thread(target=lambda: got.append(one(other, ACQUIRE, ("a",))))
        thread.start()
        wait_until_blocked(db, other)
    thread.join()
    assert got == [epoch]


def test_nobody_takes_over_in_the_middle_of_fenced_work(db: Db, connect: Connect, clock: Clock) -> None:
    epoch = one(db, ACQUIRE, ("a",))
    other = connect()
    with db.transaction():
        one(db, "select howdah.maintain_workers(%s)", (epoch,))
        clock.advance(11)
        assert one(other, ACQUIRE, ("b",)) is None
    assert one(other, ACQUIRE, ("b",)) == epoch + 1


def test_bad_input_to_locks_and_workers_is_refused(db: Db) -> None:
    worker = one(db, "select howdah.register_worker('w', 'h', 1, 1, '{}')")
    cases = [
        ("HD005", f"select howdah.acquire_lock({arguments})")
        for arguments in (
            "null, 'a'",
            "'l', null",
            "'l', 'a', null",
            "'l', 'a', 0",
            "'l', 'a', -1",
            "'l', 'a', 'NaN'",
            "'l', 'a', 1e12",
            "'l', 'a', 3601",
            "'l', 'a', 'infinity'",
        )
    ]
    cases += [
        ("HD014", "select howdah.release_lock('none', 1, 'a')"),
        ("HD014", "select howdah.release_lock(null, null, null)"),
        ("HD014", "select howdah.release_lock('maintenance', 0, 'a')"),
        ("HD014", "select howdah.maintain_totals(0)"),
        ("HD014", "select howdah.maintain_totals(-1)"),
        ("HD005", "select howdah.maintain_workers(null, null)"),
        ("HD005", "select howdah.maintain_workers(null, 0)"),
        ("HD005", "select howdah.maintain_workers(null, -5)"),
        ("HD005", "select howdah.maintain_workers(null, 1e-100)"),
        ("HD005", "select howdah.maintain_workers(null, 59.9)"),
        ("HD005", "select howdah.maintain_workers(null, 'NaN')"),
        ("HD015", "select howdah.heartbeat(null)"),
        ("HD015", "select howdah.heartbeat(gen_random_uuid())"),
    ]
    for in_hand in ("null", "'[]'", "'7'", "'{\"q\": \"1\"}'", "'{\"q\": -1}'", "'{\"q\": 1.5}'", "'{\"q\": 1e30}'",
                    "'{\"q\": [1]}'", "'{\"q\": null}'"):  # fmt: skip
        cases.append(("HD005", f"select howdah.heartbeat('{worker}', {in_hand})"))
    good = ["'w'", "'h'", "1", "1", "'{}'"]
    for position in range(5):
        bad = [*good[:position], "null", *good[position + 1 :]]
        cases.append(("HD005", f"select howdah.register_worker({', '.join(bad)})"))
    cases.append(("HD005", "select howdah.register_worker('w', 'h', -1, 1, '{}')"))
    cases.append(("HD005", "select howdah.register_worker('w', 'h', 1, -1, '{}')"))
    all_refused(db, cases)


def test_locks_of_the_audit_and_the_archive_are_reserved_for_those_whose_work_they_are(
    db: Db, connect: Connect
) -> None:
    consumer, auditor, admin = connect("howdah_consumer"), connect("howdah_auditor"), connect("howdah_admin")
    for name in ("audit", "archive"):
        refused(consumer, "HD010", "select howdah.acquire_lock(%s, 'evil', 60)", (name,))
    refused(admin, "HD010", "select howdah.acquire_lock('audit', 'evil', 60)")
    assert column(db, "select name from howdah.lock where name <> 'maintenance'") == []
    assert one(auditor, "select lock_epoch from howdah.hold_audit('me')") == 1
    assert one(admin, "select howdah.acquire_lock('archive', 'me', 60)") == 1
    assert one(consumer, "select howdah.acquire_lock('maintenance', 'me', 60)") == 1
    assert one(consumer, "select howdah.acquire_lock('reports', 'me', 60)") == 1


def test_a_lock_is_kept_and_released_by_its_holder_in_the_role_that_acquired_it(db: Db, connect: Connect) -> None:
    consumer, auditor, admin = connect("howdah_consumer"), connect("howdah_auditor"), connect("howdah_admin")
    assert one(auditor, "select lock_epoch from howdah.hold_audit('me')") == 1
    assert one(admin, "select lock_epoch from howdah.hold_audit('me')") is None
    refused(consumer, "HD014", "select howdah.release_lock('audit', 1, 'me')")
    refused(admin, "HD014", "select howdah.release_audit(1)")
    refused(admin, "HD014", "select howdah.record_audit(now(), 0, 'none', taken_at => now(), lock_epoch => 1)")
    assert one(admin, ACQUIRE, ("leader",)) == 1
    assert one(consumer, ACQUIRE, ("leader",)) is None
    refused(consumer, "HD014", "select howdah.release_lock('maintenance', 1, 'leader')")
    refused(consumer, "HD014", "select howdah.maintain_totals(1)")
    refused(admin, "HD014", "select howdah.release_lock('maintenance', 1, 'another')")
    assert column(db, "select holder from howdah.lock order by name") == ["me", "leader"]
    one(admin, "select howdah.release_lock('maintenance', 1, 'leader')")
    one(auditor, "select howdah.release_audit(1)")
    assert column(db, "select holder is null and held_as is null from howdah.lock") == [True, True]


def test_a_worker_lives_from_registration_by_heartbeats_until_it_ends(db: Db, clock: Clock) -> None:
    worker = one(db, "select howdah.register_worker('w', 'h', 7, 3, array['q'])")
    other = one(db, "select howdah.register_worker('w', 'h', 7, 3, array['q'])")
    assert worker != other
    clock.advance(100)
    one(db, "select howdah.heartbeat(%s, '{\"q\": 2}')", (worker,))
    silent = "select silent_for from howdah.list_workers() order by 1"
    assert column(db, silent) == [timedelta(0), timedelta(seconds=100)]
    clock.advance(21)
    assert one(db, "select howdah.maintain_workers()") == 1
    assert one(db, "select howdah.maintain_workers()") == 0
    refused(db, "HD015", "select howdah.heartbeat(%s)", (other,))
    for _ in range(2):
        db.execute("select howdah.unregister_worker(%s)", (worker,))
        assert column(db, silent) == []
    refused(db, "HD015", "select howdah.heartbeat(%s)", (worker,))


def test_the_journal_has_a_partition_for_each_week_of_the_coming_year(db: Db) -> None:
    assert one(db, "select howdah.maintain_journal()") == 52
    assert one(db, "select howdah.maintain_journal()") == 0
    partitions = column(
        db, "select inhrelid::regclass::text from pg_inherits where inhparent = 'howdah.journal'::regclass"
    )
    assert len(partitions) == 55
    assert one(db, "select count(*) from pg_description where objoid = any (%s::regclass[]) and objsubid = 0",
               (partitions,)) == 55  # fmt: skip
    # Compressing the numbers of a batch of 10,000 takes longer than reading their messages.
    assert column(db, "select distinct attstorage from pg_attribute where attrelid = any (%s::regclass[])"
                  " and attname = 'message_ids'", (["howdah.journal", *partitions],)) == ["e"]  # fmt: skip


def test_a_week_is_dropped_when_its_retention_is_over_and_its_rows_stay_counted(db: Db, clock: Clock) -> None:
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.send('q', 'x')")
    one(db, "select count(*) from howdah.receive('q')")
    assert one(db, "select count(*) from howdah.journal_default") == 0
    clock.advance(86400 * 90)
    one(db, "select howdah.maintain_journal()")
    assert one(db, "select count(*) from howdah.journal") == 1
    clock.advance(86400 * 8)
    one(db, "select howdah.maintain_journal()")
    assert one(db, "select count(*) from howdah.journal") == 0
    assert one(db, "select consumed from howdah.queue_stats('q')") == 1


def test_a_receive_in_a_week_without_partition_works_and_that_week_is_left_to_the_default_one(
    db: Db, clock: Clock
) -> None:
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.send('q', 'x')")
    clock.advance(86400 * 7 * 20)
    one(db, "select count(*) from howdah.receive('q')")
    assert one(db, "select count(*) from howdah.journal_default") == 1
    assert one(db, "select howdah.maintain_journal()") > 0
    assert one(db, "select howdah.maintain_journal()") == 0
    assert one(db, "select count(*) from howdah.journal") == 1


def test_partitions_are_made_while_a_transaction_receives(db: Db, connect: Connect) -> None:
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.send('q', 'x')")
    consumer = connect()
    with consumer.transaction():
        one(consumer, "select count(*) from howdah.receive('q')")
        assert one(db, "select howdah.maintain_journal()") == 52


def test_an_old_partition_that_somebody_reads_is_dropped_next_time(db: Db, connect: Connect, clock: Clock) -> None:
    week = one(db, "select min(inhrelid::regclass::text) from pg_inherits where inhparent = 'howdah.journal'::regclass"
                   " and inhrelid <> 'howdah.journal_default'::regclass")  # fmt: skip
    clock.advance(86400 * 120)
    one(db, "select howdah.maintain_journal()")
    assert one(db, "select to_regclass(%s) is null", (week,))


def test_two_counts_of_the_backlog_at_once_take_turns(db: Db, connect: Connect) -> None:
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.send_batch('q', array(select 'x' from generate_series(1, 10001)))")
    other = connect()
    with db.transaction():
        assert one(db, "select howdah.maintain_backlog()") == 1
        changed: list[int] = []
        thread = threading.Thread(target=lambda: changed.append(one(other, "select howdah.maintain_backlog()")))
        thread.start()
        wait_until_blocked(db, other)
    thread.join()
    assert changed == [0], "the second one counted before the first had written"
    assert one(db, "select count(*) from howdah.backlog_figures") == 1
