"""A schedule that an application declares is made once its queue is there, and only once."""

from __future__ import annotations

import pytest
from support import Connect, Db, column, one, receive

from howdah.workers.app import App, AppError
from howdah.workers.scheduler import Scheduler


def test_what_an_application_declares_is_made_once_its_queue_is_there_and_not_anew_by_the_next_worker(
    dsn: str, db: Db, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("howdah.workers.scheduler.DECLARE_SECONDS", 0.0)
    app = App()
    app.schedule("q", {"a": 1}, name="nightly", cron="0 3 * * *", time_zone="Europe/Vienna")
    app.schedule("other", "x", name="often", period=60)
    with pytest.raises(AppError):
        app.schedule("q", "x", name="often", period=60)
    with pytest.raises(AppError):
        app.schedule("q", "x", name="wrong", period="often")  # type: ignore[arg-type]
    one(db, "select howdah.create_queue('q')")
    listed = "select schedule_id from howdah.list_schedules() order by name"
    first = Scheduler(dsn, "first", app.schedules)
    first.run_once()
    assert len(column(db, listed)) == 1
    assert [record.getMessage() for record in caplog.records] == ["schedule refused"]
    one(db, "select howdah.create_queue('other')")
    first.run_once()
    made = column(db, listed)
    assert len(made) == 2
    second = Scheduler(dsn, "second", app.schedules)
    second.run_once()
    assert column(db, listed) == made
    first.stop()
    second.stop()


def test_what_cannot_be_declared_because_its_name_is_locked_stops_no_firing_and_no_other_declaration(
    dsn: str, db: Db, connect: Connect, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("howdah.workers.scheduler.DECLARE_SECONDS", 0.0)
    monkeypatch.setattr("howdah.workers.scheduler.LOCK_TIMEOUT", "50ms")
    app = App()
    for name in ("locked", "free"):
        app.schedule("q", name, name=name, period=3600)
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.schedule('q', 'due', starts_at => now() - interval '1 s', name => 'due')")
    scheduler = Scheduler(dsn, "s", app.schedules)
    listed = "select name from howdah.list_schedules() order by name"
    other = connect()
    with other.transaction(force_rollback=True):
        one(other, "select howdah.schedule('q', 'x', period => '1 h', name => 'locked')")
        scheduler.run_once()
        assert [message.body for message in receive(db, n=10)] == ["due"]
        scheduler.run_once()
        assert column(db, listed) == ["free"]
    scheduler.run_once()
    assert column(db, listed) == ["free", "locked"]
    assert {record.getMessage() for record in caplog.records} == {"schedule refused"}
    scheduler.stop()


def test_a_new_declaration_is_looked_at_without_a_pause(dsn: str, db: Db) -> None:
    app = App()
    app.schedule("q", "x", name="often", period=3600)
    one(db, "select howdah.create_queue('q')")
    scheduler = Scheduler(dsn, "s", app.schedules)
    assert [scheduler.run_once() for _ in range(2)] == [0.0, 1.0]
    scheduler.stop()
