"""A stop of the engine, and what a restart, a crash or a resume leaves, on a server of the test's own."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import suppress
from pathlib import Path
from typing import Literal

import psycopg
import pytest
from support import Db, column, one, refused, wait_until

from howdah.engine.embedded import EmbeddedServer

Mode = Literal["fast", "immediate"]

STOP = "select state from howdah.stop_engine(interval '10 seconds')"
LOST = "select queue, reason, count(*) from howdah.audit_journal where event = 'lost' group by 1, 2 order by 1"


def opened(server: EmbeddedServer) -> Db:
    return psycopg.connect(server.start().dsn, autocommit=True)


def stop(db: Db) -> None:
    one(db, "select howdah.quiesce_engine()")
    assert one(db, STOP) == "stopped"


def killed(server: EmbeddedServer, db: Db) -> None:
    """Kill all processes of the server at once, without a word."""
    first = int(Path(one(db, "show data_directory"), "postmaster.pid").read_text(encoding="utf-8").split()[0])
    children = [first, *column(db, "select pid from pg_stat_activity")]
    os.kill(first, signal.SIGSTOP)  # it starts no others meanwhile
    for process in [*children[1:], first]:
        with suppress(ProcessLookupError):  # one that has ended since
            os.kill(process, signal.SIGKILL)
    wait_until(lambda: not _alive(first))


def _alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def filled(db: Db) -> None:
    """Messages of both modes in each place."""
    one(db, "select howdah.create_queue('q', '{\"journal_level\": \"full\"}')")
    one(db, "select howdah.create_topic('t')")
    one(db, "select howdah.subscribe('t', 's')")
    for mode in ("persistent", "non-persistent"):
        one(db, "select howdah.send('q', %s, delivery_mode => %s)", (mode, mode))
        one(db, "select howdah.send('q', %s, delivery_mode => %s, delay => '1 ms')", (f"{mode}, delayed", mode))
        one(db, "select howdah.send('t', %s, delivery_mode => %s)", (mode, mode))


KEPT = ["persistent", "persistent, delayed"]


@pytest.mark.first_case
@pytest.mark.slow
@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_a_restart_of_the_server_ends_a_stop_and_exactly_the_persistent_messages_remain(
    private_server: EmbeddedServer, mode: Mode
) -> None:
    with opened(private_server) as db:
        filled(db)
        stop(db)
        refused(db, "HD040", "select howdah.receive('q')")
    private_server.stop(mode)
    with opened(private_server) as db:
        assert one(db, "select state from howdah.engine_state()") == "running"
        assert sorted(column(db, "select body from howdah.receive('q', 9)")) == KEPT
        assert column(db, "select body from howdah.receive('t::s', 9)") == ["persistent"]
        assert db.execute("select state, stopped_boot, state_by from howdah.engine").fetchone() == (
            "running",
            None,
            None,
        )
        assert column(db, "select name from howdah.destinations where sending_paused or receiving_paused") == []
        swept = 2 if mode == "fast" else 1  # a crash leaves no list of what UNLOGGED tables held
        assert db.execute(LOST.encode()).fetchall() == [
            ("q", "engine stopped", swept),
            *([("t::s", "engine stopped", 1)] if mode == "fast" else []),
        ]
        assert one(db, "select howdah.resume_engine()") is False


@pytest.mark.first_case
@pytest.mark.slow
@pytest.mark.parametrize(
    "call",
    [
        "send('q', 'x'::text)",
        "receive('q')",
        "receive('t::s')",
        *(
            pytest.param(call, marks=pytest.mark.slow)
            for call in ("send_batch('q', array['x'])", "lease('q')", "receive('*')", "send('t', 'x'::text)")
        ),
        *(pytest.param(call, marks=pytest.mark.slow) for call in ("open_consumer('q')", "subscribe('t', 'u')")),
    ],
)
def test_any_first_call_after_the_restart_is_served(private_server: EmbeddedServer, call: str) -> None:
    with opened(private_server) as db:
        filled(db)
        stop(db)
    private_server.stop()
    with opened(private_server) as first, opened(private_server) as second:
        with first.transaction():
            first.execute(f"select howdah.{call}".encode())
            one(second, "select howdah.send('q', 'meanwhile'::text)")
            one(second, "select howdah.create_temporary_queue()")
        assert one(second, "select state from howdah.engine_state()") == "running"
        one(second, "select howdah.send('q', 'afterwards'::text)")


@pytest.mark.slow
def test_queues_paused_by_themselves_stay_so_after_the_restart(private_server: EmbeddedServer) -> None:
    with opened(private_server) as db:
        for name in ("q", "closed"):
            one(db, "select howdah.create_queue(%s)", (name,))
        one(db, "select howdah.pause('closed')")
        stop(db)
    private_server.stop()
    with opened(private_server) as db:
        refused(db, "HD008", "select howdah.send('closed', 'x'::text)")
        refused(db, "HD009", "select howdah.receive('closed')")
        one(db, "select howdah.create_queue('new')")
        one(db, "select howdah.send('new', 'x'::text)")
        one(db, "select howdah.send('q', 'x'::text)")


@pytest.mark.first_case
@pytest.mark.parametrize("verb", ["pause", "quiesce"])
def test_a_pause_outlasts_a_restart_of_the_server(private_server: EmbeddedServer, verb: str) -> None:
    with opened(private_server) as db:
        one(db, "select howdah.create_queue('q')")
        one(db, f"select howdah.{verb}_engine()")
    private_server.stop()
    with opened(private_server) as db:
        refused(db, "HD040", "select howdah.send('q', 'x'::text)")
        assert one(db, "select howdah.resume_engine()") is True
        one(db, "select howdah.send('q', 'x'::text)")


@pytest.mark.slow
def test_a_stop_can_follow_a_stop_that_a_restart_has_ended(private_server: EmbeddedServer) -> None:
    with opened(private_server) as db:
        filled(db)
        stop(db)
    private_server.stop()
    with opened(private_server) as db:
        stop(db)
        one(db, "select howdah.resume_engine()")
        assert sorted(column(db, "select body from howdah.receive('q', 9)")) == KEPT
        assert one(db, "select count(*) from howdah.audit_journal where event = 'lost'") == 3


@pytest.mark.first_case
@pytest.mark.behaviour("SIB-35")
@pytest.mark.parametrize("round_number", range(3))
def test_what_was_committed_asynchronously_just_before_a_stop_survives_a_kill_just_after_it(
    private_server: EmbeddedServer, round_number: int
) -> None:
    """The WAL writer sleeps long, so nothing but the stop flushes."""
    with opened(private_server) as db:
        db.execute("alter system set wal_writer_delay = '10s'")
        one(db, "select pg_reload_conf()")
        one(db, "select howdah.create_queue('q')")
        one(db, "select howdah.quiesce_engine()")
        one(db, "select howdah.resume_engine()")
        wait_until(lambda: one(db, "show wal_writer_delay") == "10s")
        sent: list[int] = []
        refusals: list[str | None] = []
        ready = threading.Barrier(3)

        def send() -> None:
            with opened(private_server) as own:
                own.execute("set synchronous_commit = off")
                ready.wait()
                for number in range(100_000):
                    try:
                        sent.append(one(own, "select howdah.send('q', %s::text)", (str(number),)))
                    except psycopg.Error as error:
                        refusals.append(error.sqlstate)
                        return

        senders = [threading.Thread(target=send) for _ in range(2)]
        for sender in senders:
            sender.start()
        ready.wait()
        wait_until(lambda: len(sent) > 50)
        db.execute("set synchronous_commit = off")
        assert one(db, "select howdah.quiesce_engine()") is True
        assert one(db, STOP) == "stopped"
        killed(private_server, db)
        for sender in senders:
            sender.join()
        assert set(refusals) <= {"HD040", None}  # None: its next call came only after the kill
        assert len(refusals) == 2
    with opened(private_server) as db:
        found = set(column(db, "select message_id from howdah.receive('q', 10000)"))
        while more := column(db, "select message_id from howdah.receive('q', 10000)"):
            found.update(more)
        assert found == set(sent)


def test_without_the_stop_the_same_kill_loses_messages(private_server: EmbeddedServer) -> None:
    """The proof that the test above tests something. What else the server writes may flush them now and then."""
    with opened(private_server) as db:
        db.execute("alter system set wal_writer_delay = '10s'")
        one(db, "select pg_reload_conf()")
        wait_until(lambda: one(db, "show wal_writer_delay") == "10s")
        one(db, "select howdah.create_queue('q')")
    assert any(_lost_by_a_kill(private_server) for _ in range(5))


def _lost_by_a_kill(server: EmbeddedServer) -> int:
    """How many messages a kill takes that were committed without a wait, while more are sent."""
    sent: list[int] = []

    def send() -> None:
        with suppress(psycopg.Error), opened(server) as own:
            own.execute("set synchronous_commit = off")
            while True:
                sent.append(one(own, "select howdah.send('q', 'x'::text)"))

    with opened(server) as db:
        sender = threading.Thread(target=send)
        sender.start()
        wait_until(lambda: len(sent) > 20)
        killed(server, db)
        sender.join()
    with opened(server) as db:
        found = set(column(db, "select message_id from howdah.browse('q', 10000)"))
        return len(set(sent) - found)
