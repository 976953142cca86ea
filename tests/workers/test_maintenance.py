"""What worker processes do besides handling: the registry, and maintenance by one of them."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path

import psycopg
import pytest
from support import Clock, Connect, Db, column, one, wait_until
from workers_support import StartWorkers, Work

from howdah.engine import Admin, Message
from howdah.engine.database.runner import run
from howdah.engine.errors import LockLost
from howdah.workers.in_hand import Hands
from howdah.workers.maintenance import SERVICES, Maintenance
from howdah.workers.recorder import Recorder
from howdah.workers.registration import Registration


@pytest.mark.slow
def test_a_worker_says_what_it_has_in_hand_and_registers_again_when_forgotten(jobs: Work, start: StartWorkers) -> None:
    jobs.send("gate-python", "plain")
    start()
    with jobs.gate():
        wait_until(lambda: one(jobs.db, "select in_hand from howdah.queue_stats('work')") == 2)
        (row,) = jobs.db.execute("select queues, sessions, in_hand from howdah.list_workers()").fetchall()
        assert row == (["work", "single"], 1, {"work": 2, "single": 0})
        before = one(jobs.db, "select worker_id from howdah.list_workers()")
        one(jobs.db, "select howdah.unregister_worker(%s)", (before,))
        wait_until(lambda: column(jobs.db, "select worker_id from howdah.list_workers()") not in ([], [before]))
    wait_until(lambda: one(jobs.db, "select in_hand from howdah.queue_stats('work')") == 0)


def test_a_heartbeat_outlives_its_connection(dsn: str, db: Db, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("howdah.workers.registration.HEARTBEAT_SECONDS", 0.0)
    registration = Registration(dsn, "w", 1, ["q"], Hands.create(tmp_path / "hands", 1))
    registration.beat()
    one(
        db,
        "select count(pg_terminate_backend(pid)) from pg_stat_activity"
        " where application_name = 'howdah heartbeat' and datname = current_database()",
    )

    def beats() -> bool:
        registration.beat()
        return bool(
            column(
                db,
                "select 1 from pg_stat_activity"
                " where application_name = 'howdah heartbeat' and datname = current_database()",
            )
        )

    wait_until(beats)
    assert column(db, "select name from howdah.list_workers()") == ["w"]
    registration.end()
    assert column(db, "select name from howdah.list_workers()") == []


LEADER = """
import sys, time
from howdah.workers.maintenance import Maintenance
leader = Maintenance(sys.argv[1], "leader", every={"totals": 0.1}, lock_seconds=60)
leader.start()
time.sleep(60)
"""


def holder(db: Db) -> str:
    """Who holds the maintenance lock."""
    found = column(db, "select holder from howdah.lock where name = 'maintenance' and expires_at > howdah.now()")
    return str(found[0]).split(":")[0] if found else ""


@pytest.mark.behaviour("AMQ-64")
def test_maintenance_is_taken_over_from_a_killed_leader_and_from_a_stopped_one(dsn: str, db: Db, clock: Clock) -> None:
    heir = Maintenance(dsn, "heir", lock_seconds=60)
    with subprocess.Popen([sys.executable, "-c", LEADER, dsn]) as leader:
        wait_until(lambda: holder(db) == "leader")
        assert heir.run_once("totals") is None
        epoch = one(db, "select epoch from howdah.lock where name = 'maintenance'")
        leader.send_signal(signal.SIGKILL)
    connected = (
        "select count(*) from pg_stat_activity where application_name = 'howdah maintenance'"
        " and datname = current_database()"
    )
    wait_until(lambda: one(db, connected) == 1)  # its last words have been heard
    clock.advance(59.9)
    assert heir.run_once("totals") is None, "its lease is not over"
    clock.advance(0.1)
    assert heir.run_once("totals") is not None
    assert holder(db) == "heir"
    assert one(db, "select epoch from howdah.lock where name = 'maintenance'") > epoch
    # Given up at once, although it had a minute left.
    heir.stop()
    assert holder(db) == ""
    assert heir.run_once("totals") is None
    second = Maintenance(dsn, "second")
    assert second.run_once("totals") is not None
    second.stop()


@pytest.mark.behaviour("AMQ-64")
def test_a_leader_that_was_paused_can_do_nothing_more(dsn: str, db: Db, clock: Clock) -> None:
    admin = Admin(lambda call: run(db, call))
    paused = admin.acquire_lock("maintenance", "paused", 30)
    clock.advance(31)
    heir = Maintenance(dsn, "heir")
    assert heir.run_once("workers") == 0
    with pytest.raises(LockLost):
        admin.maintain("workers", paused)
    assert heir.run_once("workers") == 0
    heir.stop()


def test_maintenance_survives_a_lost_connection_and_a_holder_in_the_middle_of_a_pass(
    dsn: str, db: Db, connect: Connect, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    maintenance = Maintenance(dsn, "w")
    assert maintenance.run_once("totals") is not None
    one(
        db,
        "select count(pg_terminate_backend(pid)) from pg_stat_activity"
        " where application_name = 'howdah maintenance' and datname = current_database()",
    )
    assert maintenance.run_once("totals") is None
    assert [record.getMessage() for record in caplog.records] == ["maintenance failed"]
    assert maintenance.run_once("totals") is not None
    monkeypatch.setattr("howdah.workers.maintenance.LOCK_TIMEOUT", "100ms")
    second = Maintenance(dsn, "second")
    other = connect()
    with other.transaction():
        other.execute("select 1 from howdah.lock where name = 'maintenance' for no key update")
        assert second.run_once("totals") is None
    assert len(caplog.records) == 1
    second.stop()
    maintenance.stop()


def some_message(message_id: int) -> Message:
    return Message(
        (message_id, "q", "", None, "text/plain", None, 4, None, None, None, None, "persistent",
         0, None, 1, False, message_id, 0, None, None, None)
    )  # fmt: skip


def test_hands_outlive_the_process_that_wrote_them(tmp_path: Path) -> None:
    path = tmp_path / "hands"
    watching = Hands.create(path, 3)
    assert not watching.started
    written = Hands(path, 3)
    written.start(["a", "b", "c"])
    keys = []
    for slot in range(3):
        written.take(slot, slot, some_message(slot + 10), 1.0)
        keys.append(written.key(slot))
    assert len(set(keys)) == 3
    written.leave(1)
    written.hold(2, 1, 7)
    written.close()
    assert watching.started
    assert [(hand.queue, hand.message_id, hand.failure_key) for hand in watching.read()] == [
        ("a", 10, keys[0]),
        ("c", 12, keys[2]),
    ]
    assert watching.held() == [(0, 0), (0, 0), (1, 7)]
    watching.abandon()
    assert watching.read() == []
    watching.close()


def test_a_failure_whose_answer_was_lost_is_recorded_once(jobs: Work, dsn: str) -> None:
    """The session recorded it and died; its supervisor records it again, under the same key."""
    (message,) = jobs.send("plain")
    failure = {"message_id": message, "failure_key": str(uuid.uuid4()), "error_class": "E", "error_text": ""}
    recorder = Recorder(dsn, "w", threading.Event())
    first = recorder.record("work", [failure])
    assert recorder.record("work", [failure | {"error_class": "WorkerDied"}]) == first
    assert jobs.incidents(message) == ["E"]
    recorder.close()


@pytest.mark.slow
@pytest.mark.behaviour("SIB-22")
def test_a_worker_discards_within_ten_seconds_what_goes_with_its_sender(db: Db, dsn: str) -> None:
    one(db, "select howdah.create_queue('ticker', '{\"discard_with_sender\": true}')")
    with psycopg.connect(dsn, autocommit=True) as sender:
        for level in ("BEST_EFFORT_NONPERSISTENT", "EXPRESS_NONPERSISTENT", "RELIABLE_NONPERSISTENT"):
            one(sender, "select howdah.send('ticker', 'x', reliability => %s)", (level,))
    maintenance = Maintenance(dsn, "w")
    assert SERVICES["senders"] * 1.1 + 5 < 10, "a connection that is named, too, which counts as silent after 5 s"
    maintenance.start()
    try:
        wait_until(lambda: one(db, "select count(*) from howdah.audit_messages where queue = 'ticker'") == 1, 10)
    finally:
        maintenance.stop()
    assert one(db, "select reliability from howdah.audit_messages where queue = 'ticker'") == "RELIABLE_NONPERSISTENT"


def test_services_run_on_though_this_machines_clock_is_set_back(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    maintenance = Maintenance(dsn, "w", every={"journal": 3600.0, "log": 3600.0})
    ran: list[str] = []
    monkeypatch.setattr(maintenance, "run_once", ran.append)
    maintenance.start()
    maintenance.heed_clock()
    wait_until(lambda: ran == ["transactions"])
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() - 3600)
    maintenance.heed_clock()
    wait_until(lambda: sorted(ran[1:]) == ["journal", "log"])
    maintenance.heed_clock()
    maintenance.stop()
    assert len(ran) == 3
