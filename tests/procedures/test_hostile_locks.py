"""Nobody takes, keeps or releases a named lock against those whom it is for."""

from __future__ import annotations

import threading

import pytest
from support import Clock, Connect, Db, one, refused, wait_until_blocked


@pytest.mark.parametrize(
    ("name", "seconds", "expected"),
    [
        ("audit", "1", "HD010"),
        ("archive", "1", "HD010"),
        ("Audit", "1", None),  # another name: it keeps nobody from auditing
        ("x", "'NaN'", "HD005"),
        ("x", "'Infinity'", "HD005"),
        ("x", "'-Infinity'", "HD005"),
        ("x", "3600.0001", "HD005"),
        ("x", "0", "HD005"),
        ("x", "1e-9", None),
    ],
)
def test_no_consumer_takes_a_reserved_lock_or_one_for_ever(
    connect: Connect, db: Db, name: str, seconds: str, expected: str | None
) -> None:
    consumer, query = connect("howdah_consumer"), f"select howdah.acquire_lock(%s, 'evil', {seconds})"
    if expected is None:
        assert one(consumer, query, (name,)) == 1
    else:
        refused(consumer, expected, query, (name,))
    assert one(db, "select lock_epoch from howdah.hold_audit('auditor', 1)") == 1


def test_nobody_releases_or_renews_the_lock_of_another_role_by_its_epoch_and_holder(connect: Connect) -> None:
    consumer, admin = connect("howdah_consumer"), connect("howdah_admin")
    epoch = one(consumer, "select howdah.acquire_lock('mine', 'me')")
    refused(admin, "HD014", "select howdah.release_lock('mine', %s, 'me')", (epoch,))
    refused(consumer, "HD014", "select howdah.release_lock('mine', %s, 'you')", (epoch,))
    assert one(admin, "select howdah.acquire_lock('mine', 'me', 3600)") is None


def test_an_administrator_breaks_a_lock_that_a_consumer_renews_for_ever(connect: Connect, db: Db, clock: Clock) -> None:
    consumer, admin = connect("howdah_consumer"), connect("howdah_admin")
    held = one(consumer, "select howdah.acquire_lock('maintenance', 'evil', 3600)")
    clock.advance(3599)
    assert one(consumer, "select howdah.acquire_lock('maintenance', 'evil', 3600)") == held
    refused(consumer, "HD010", "select howdah.break_lock('maintenance')")
    refused(connect("howdah_producer"), "42501", "select howdah.break_lock('maintenance')")
    broken = one(admin, "select howdah.break_lock('maintenance')")
    assert (broken["holder"], broken["held_as"], broken["epoch"]) == ("evil", "howdah_consumer", held)
    assert one(admin, "select howdah.break_lock('maintenance')") is None, "nobody holds it any more"
    assert one(admin, "select howdah.break_lock('never taken')") is None
    refused(consumer, "HD014", "select howdah.maintain_totals(%s)", (held,))
    refused(consumer, "HD014", "select howdah.release_lock('maintenance', %s, 'evil')", (held,))
    assert one(admin, "select howdah.acquire_lock('maintenance', 'worker')") == held + 2
    refused(consumer, "HD014", "select howdah.maintain_totals(%s)", (held,))
    told = db.execute("select epoch, holder from howdah.lock_epochs where name = 'maintenance' order by id").fetchall()
    assert told == [(held, "evil"), (held + 1, "nobody: broken by howdah_admin"), (held + 2, "worker")]


def test_who_breaks_a_lock_waits_for_the_work_that_is_fenced_by_it(connect: Connect, db: Db) -> None:
    worker, admin = connect("howdah_consumer"), connect("howdah_admin")
    epoch = one(worker, "select howdah.acquire_lock('maintenance', 'worker')")
    broken: list[object] = []
    with worker.transaction():
        one(worker, "select howdah.maintain_workers(%s, 3600)", (epoch,))
        thread = threading.Thread(target=lambda: broken.append(one(admin, "select howdah.break_lock('maintenance')")))
        thread.start()
        wait_until_blocked(db, admin)
    thread.join()
    assert broken != [None]
    refused(worker, "HD014", "select howdah.maintain_workers(%s, 3600)", (epoch,))
