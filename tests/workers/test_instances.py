"""Instances as real processes: they wait, take over, are killed and paused, and nothing is lost or done twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support import Clock, Db, column, one, wait_until
from workers_support import APPS, StartWorkers, Work

from howdah.engine import connect
from howdah.engine.errors import ConsumerNotOpen, InstanceRefused
from howdah.workers.instance import Instance

TIMEOUT = 10


def states(db: Db) -> dict[str, str]:
    return dict(db.execute("select name, state from howdah.list_instances()").fetchall())


def reads(db: Db, name: str) -> list[int]:
    return column(db, "select last_change from howdah.list_instances() where name = %s", (name,))


@contextmanager
def howdah_worker(dsn: str, log: Path, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """A whole ``howdah worker``, which dies with all its processes."""
    command = [sys.executable, "-m", "howdah.cli.main", "worker", "workapp:app", "--sessions", "1", *options]
    with log.open("wb") as file:
        worker = subprocess.Popen(command, env=os.environ | {"HOWDAH_DSN": dsn}, cwd=APPS, stderr=file)
        try:
            yield worker
        finally:
            worker.kill()
            worker.wait()


def processes(db: Db, instance: str) -> list[int]:
    return column(db, "select pid from howdah.list_workers() where instance = %s", (instance,))


def handled_by(db: Db) -> set[str]:
    """The process ids that handled messages."""
    return {worker.rsplit(":", 1)[1].split("/")[0] for worker in column(db, "select worker from work.effects")}


@pytest.mark.slow
@pytest.mark.behaviour("AMQ-63")
@pytest.mark.behaviour("AMQ-64")
@pytest.mark.behaviour("IMQ-110")
def test_of_two_exclusive_instances_one_works_and_the_other_takes_over_when_it_is_killed(
    jobs: Work, start: StartWorkers, dsn: str, tmp_path: Path, clock: Clock
) -> None:
    one(jobs.db, "select howdah.alter_engine('{\"exclusive\": true}')")
    with howdah_worker(dsn, tmp_path / "first.log", "--instance", "first") as first:
        wait_until(lambda: states(jobs.db) == {"first": "RUNNING"})
        start(instance=Instance(dsn, "second"))
        wait_until(lambda: states(jobs.db) == {"first": "RUNNING", "second": "INITIALIZING"})
        sent = jobs.send(*["plain"] * 20)
        jobs.wait_empty()
        pids = processes(jobs.db, "first")
        assert handled_by(jobs.db) == set(map(str, pids))
        assert processes(jobs.db, "second") == []
        for pid in (first.pid, *pids):
            os.kill(pid, signal.SIGKILL)
        first.wait()
        sent += jobs.send(*["plain"] * 20)
        clock.advance(TIMEOUT + 0.1)
        jobs.wait_empty()
        assert states(jobs.db) == {"second": "RUNNING"}, "what the killed one registered has vanished"
        assert jobs.effects() == sorted(sent), "each once"
        assert handled_by(jobs.db) == set(map(str, [*pids, *processes(jobs.db, "second")]))


@pytest.mark.slow
@pytest.mark.behaviour("AMQ-64")
def test_a_process_that_was_paused_writes_nothing_after_another_instance_took_over(
    jobs: Work, start: StartWorkers, dsn: str, tmp_path: Path, clock: Clock
) -> None:
    one(jobs.db, "select howdah.alter_engine('{\"exclusive\": true}')")
    with howdah_worker(dsn, tmp_path / "first.log", "--instance", "first") as first:
        wait_until(lambda: states(jobs.db) == {"first": "RUNNING"})
        (message,) = jobs.send("gate-python")
        with jobs.gate():
            paused = jobs.wait_in_handler(message)
            for pid in (first.pid, paused):
                os.kill(pid, signal.SIGSTOP)
            heir = start(instance=Instance(dsn, "second"))
            wait_until(lambda: "second" in states(jobs.db))
            clock.advance(TIMEOUT + 0.1)
            wait_until(lambda: states(jobs.db) == {"second": "RUNNING"})
            assert jobs.effects() == []
        os.kill(paused, signal.SIGCONT)  # its handler ends, and it commits
        jobs.wait_empty()
        os.kill(first.pid, signal.SIGCONT)
        assert jobs.effects() == [message]
        assert handled_by(jobs.db) == set(map(str, heir.pids)) != {str(paused)}
        assert jobs.blamed() == set(), "the message is not to blame"


@pytest.mark.slow
def test_a_quiesced_instance_finishes_what_it_has_in_hand_and_receives_nothing_new(
    jobs: Work, start: StartWorkers, dsn: str
) -> None:
    workers = start(instance=Instance(dsn, "only"))
    wait_until(lambda: states(jobs.db) == {"only": "RUNNING"})
    (message,) = jobs.send("gate-python")
    with jobs.gate():
        jobs.wait_in_handler(message)
        one(jobs.db, "select howdah.quiesce_instance('only')")
        wait_until(lambda: states(jobs.db) == {"only": "QUIESCED"})
        wait_until(lambda: workers.events("worker stopping"))
        later = jobs.send("plain")
    wait_until(lambda: jobs.effects() == [message])
    wait_until(lambda: workers.pids == [])
    assert one(jobs.db, "select body from howdah.receive('work')") == "plain", "plain SQL goes on"
    again = jobs.send("plain")
    assert one(jobs.db, "select howdah.resume_instance('only')") is True
    jobs.wait_empty()
    assert jobs.effects() == sorted([message, *again])
    assert later != again
    one(jobs.db, "select howdah.end_instance('only')")
    workers.wait_ended()
    workers.close()
    assert states(jobs.db) == {}


@pytest.mark.slow
@pytest.mark.behaviour("IMQ-50")
@pytest.mark.behaviour("IMQ-115")
def test_no_message_is_delivered_before_the_instance_runs(jobs: Work, start: StartWorkers, dsn: str) -> None:
    one(jobs.db, "select howdah.set_cluster('master', 'first')")
    sent = jobs.send(*["plain"] * 3)
    second = start(instance=Instance(dsn, "second"))
    wait_until(lambda: states(jobs.db) == {"second": "INITIALIZING"})
    assert (second.pids, jobs.effects()) == ([], [])
    master = Instance(dsn, "first")
    master.start()
    try:
        jobs.wait_empty()
        assert jobs.effects() == sorted(sent)
        assert states(jobs.db) == {"first": "RUNNING", "second": "RUNNING"}
    finally:
        master.stop()


@pytest.mark.behaviour("IMQ-109")
def test_a_running_instance_reads_each_change_in_less_than_a_second(db: Db, dsn: str) -> None:
    seen: list[dict[str, Any]] = []
    instance = Instance(dsn, "reader", on_change=seen.append)
    instance.start()
    try:
        for change in ("create_queue('q')", "create_topic('t')", "subscribe('t', 's')", "drop_queue('q')"):
            before = len(seen)
            one(db, f"select howdah.{change}")
            wait_until(lambda before=before: len(seen) > before, timeout=1)  # type: ignore[misc]
    finally:
        instance.stop()
    assert [(change["act"], change["name"]) for change in seen] == [
        ("created", "q"),
        ("created", "t"),
        ("created", "t::s"),
        ("dropped", "q"),
    ]


@pytest.mark.slow
@pytest.mark.behaviour("IMQ-119")
def test_an_instance_whose_own_settings_contradict_does_not_start(
    jobs: Work, start: StartWorkers, dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start(instance=Instance(dsn, "first", {"cluster_mode": "none", "exclusive": False}))
    wait_until(lambda: states(jobs.db) == {"first": "RUNNING"})
    for told in (["--cluster-mode", "master"], ["--exclusive"]):
        with howdah_worker(dsn, tmp_path / "log2", "--instance", "second", *told) as second:
            assert second.wait(60) == 1
        assert "but the cluster has" in (tmp_path / "log2").read_text()
    monkeypatch.setattr("howdah.workers.instance.PATIENCE_SECONDS", 0)
    instance = Instance(dsn, "first")
    with pytest.raises(InstanceRefused, match="is running"):
        instance.start()
    assert states(jobs.db) == {"first": "RUNNING"}


@pytest.mark.slow
def test_an_instance_that_was_taken_for_dead_registers_again_and_works_on(
    jobs: Work, start: StartWorkers, dsn: str
) -> None:
    start(instance=Instance(dsn, "only"))
    wait_until(lambda: states(jobs.db) == {"only": "RUNNING"})
    before = one(jobs.db, "select instance_id from howdah.list_instances()")
    one(jobs.db, "select howdah.unregister_instance(%s)", (before,))
    wait_until(lambda: states(jobs.db) == {"only": "RUNNING"})
    assert one(jobs.db, "select instance_id from howdah.list_instances()") != before
    sent = jobs.send("plain")
    jobs.wait_empty()
    assert jobs.effects() == sent
    wait_until(lambda: len(processes(jobs.db, "only")) == 1)


@pytest.mark.behaviour("IMQ-108")
def test_a_message_says_through_which_instance_it_came_and_outlives_it(db: Db, dsn: str, clock: Clock) -> None:
    one(db, "select howdah.create_queue('q')")
    home = Instance(dsn, "first")
    home.start()
    with connect(dsn, instance="first") as client:
        client.send("q", "one", headers={"a": 1})
        with client.session() as session, session.transaction():
            session.send("q", "two")
            session.send_many("q", ["three", "four"])
    home.stop()
    assert states(db) == {}, "its home has died"
    received = db.execute("select body, headers from howdah.receive('q', 9)").fetchall()
    assert [body for body, _ in received] == ["one", "two", "three", "four"]
    assert received[0][1] == {"a": 1, "howdah_home": "first"}
    assert {headers["howdah_home"] for _, headers in received} == {"first"}


@pytest.mark.behaviour("IMQ-105")
def test_what_is_sent_at_one_instance_is_received_at_another(db: Db, dsn: str) -> None:
    one(db, """select howdah.create_queue('q', '{"delivery_policy": "failover"}')""")
    instances = [Instance(dsn, name) for name in ("first", "second")]
    for instance in instances:
        instance.start()
    try:
        with connect(dsn, instance="first") as producer, connect(dsn, instance="second") as client:
            producer.send("q", "x")
            with client.session() as session:
                consumer = session.open_consumer("q")
                session.commit()
                (message,) = session.receive("q", consumer=consumer)
                session.commit()
                assert column(db, "select instance from howdah.list_consumers('q')") == ["second"]
        assert (message.body, message.headers["howdah_home"]) == ("x", "first")
    finally:
        for instance in instances:
            instance.stop()


@pytest.mark.behaviour("IMQ-120")
def test_a_client_whose_home_was_killed_goes_on_at_another_and_nothing_is_lost(
    db: Db, dsn: str, tmp_path: Path, clock: Clock
) -> None:
    one(db, """select howdah.create_queue('q', '{"delivery_policy": "single"}')""")
    sent = [f"m{number}" for number in range(40)]
    received: list[str] = []
    program = (
        "import sys, time; from howdah.workers.instance import Instance; i = Instance(sys.argv[1], sys.argv[2]);"
        " i.start(); print(flush=True); time.sleep(600)"
    )
    homes = [
        subprocess.Popen([sys.executable, "-c", program, dsn, name], stdout=subprocess.PIPE)
        for name in ("first", "second")
    ]
    try:
        for process in homes:
            assert process.stdout is not None
            process.stdout.readline()
        wait_until(lambda: set(states(db).values()) == {"RUNNING"})
        for name in ("first", "second"):
            with connect(dsn, instance=name) as client, client.session() as session:
                consumer = session.open_consumer("q")
                session.commit()
                for body in sent[:20] if name == "first" else sent[20:]:
                    client.send("q", body)
                try:
                    while messages := session.receive("q", 3, consumer=consumer):
                        if name == "first" and len(received) >= 9:
                            homes[0].kill()  # with messages in hand
                            homes[0].wait()
                            session.rollback()
                            clock.advance(TIMEOUT + 0.1)
                            wait_until(lambda: set(states(db)) == {"second"})
                            continue
                        received += [str(message.body) for message in messages]
                        session.commit()
                except ConsumerNotOpen:
                    assert name == "first", "its home has died, and it goes elsewhere"
        assert sorted(received) == sorted(sent)
    finally:
        for process in homes:
            process.kill()
            process.communicate()  # which closes its pipe too
