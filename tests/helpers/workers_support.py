"""What tests of workers import: supervisors with real processes, and the queue and tables that handlers work on."""

from __future__ import annotations

import json
import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from support import Db, column, one, wait_until

from howdah.workers import Supervisor
from howdah.workers.log import writer

APPS = Path(__file__).parents[1] / "workers" / "apps"

TABLES = """
create schema work;
create table work.effects (message_id bigint, delivery integer, worker text,
    tx text default pg_current_xact_id()::text);
create table work.trace (at bigserial, message_id bigint, body text, delivery integer,
    redelivered boolean, pid integer);
create table work.once (n integer primary key);
create table work.locked (n integer);
create table work.checked (n integer unique deferrable initially deferred);
create table work.gated (n integer);
create function work.gate() returns trigger language plpgsql as
    $$ begin
        -- not the supervisor, who would stand still
        if to_jsonb(new) ->> 'error_class' is distinct from 'WorkerDied' then
            perform pg_advisory_xact_lock_shared(7);
        end if;
        return null;
    end $$;
create constraint trigger gate after insert on work.gated deferrable initially deferred
    for each row execute function work.gate();
select howdah.create_queue('work'), howdah.create_queue('single');
"""

_DEFERRED = "deferrable initially deferred"
HARDENED_STEPS = {
    "put on record": ("trigger gate after insert on howdah.attempts", "", "note"),
    "committed": ("constraint trigger gate after insert on howdah.attempts", _DEFERRED, "note"),
    "taken": ("trigger gate after delete on howdah.attempts", "", "note"),
    "handled": ("constraint trigger gate after delete on howdah.attempts", _DEFERRED, "note"),
    "failed": ("trigger gate after insert on howdah.poison_details", "", "fail"),
    "told": ("constraint trigger gate after insert on howdah.poison_details", _DEFERRED, "fail"),
}
"""The steps of a worker's attempt.

The statement or the commit at whose end it can be made to wait, and what its handler does.
"""


class Workers:
    """A supervisor that a thread of the test watches over, and what became of the messages."""

    def __init__(self, dsn: str, target: str, log: Path, **options: Any) -> None:
        self.dsn = dsn
        self.log = log
        self.supervisor = Supervisor(target, dsn, log_json=True, log_file=log, **options)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._lock = threading.Lock()

    def start(self) -> None:
        self.supervisor.start()
        self._thread.start()

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self.supervisor.check_once():
                    return
            time.sleep(0.02)

    @property
    def pids(self) -> list[int]:
        return self.supervisor.pids

    def events(self, event: str) -> list[dict[str, Any]]:
        """Lines of the log so far; every one must be JSON."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [line for line in map(json.loads, lines) if line["event"] == event]

    def wait_started(self, number: int = 1) -> None:
        wait_until(lambda: len(self.events("worker started")) >= number)

    def kill(self, pid: int | None = None) -> int:
        """SIGKILL to a worker process."""
        killed = self.pids[0] if pid is None else pid
        os.kill(killed, signal.SIGKILL)
        return killed

    def stop(self) -> None:
        """Once: finish; twice: roll back."""
        with self._lock:
            self.supervisor.stop()

    def wait_ended(self, timeout: float = 60) -> None:
        self._thread.join(timeout)
        assert not self._thread.is_alive()

    def close(self) -> None:
        self.stop()
        self._thread.join(30)
        if self._thread.is_alive():
            self.stop()
            self._thread.join(30)
        with self._lock:
            self.supervisor.close()


StartWorkers = Callable[..., Workers]


@contextmanager
def running(log: Path) -> Iterator[StartWorkers]:
    """Starts supervisors, which are stopped at the end."""
    started: list[Workers] = []
    supervising = logging.FileHandler(log)
    supervising.setFormatter(writer.LineFormatter(as_json=True))
    logger = logging.getLogger("howdah")
    logger.addHandler(supervising)
    logger.setLevel(logging.INFO)

    def start(dsn: str, target: str = "workapp:app", **options: Any) -> Workers:
        workers = Workers(dsn, target, log, **{"sessions": 1} | options)
        started.append(workers)
        workers.start()
        return workers

    try:
        yield start
    finally:
        for workers in started:
            workers.close()
        logger.removeHandler(supervising)
        supervising.close()
        if log.exists():
            for line in log.read_text().splitlines():
                assert {"at", "level", "event"} <= json.loads(line).keys()


class Work:
    """The queue and the tables that the sample application works on, as the test sees them."""

    def __init__(self, db: Db, dsn: str) -> None:
        self.db = db
        self._dsn = dsn

    def send(self, *bodies: str, queue: str = "work") -> list[int]:
        ids: list[int] = one(self.db, "select howdah.send_batch(%s, %s::text[])", (queue, list(bodies)))
        return ids

    def left(self, queue: str = "work") -> int:
        return int(one(self.db, "select live + parked from howdah.queue_stats(%s)", (queue,)))

    def wait_empty(self, queue: str = "work", timeout: float = 120) -> None:
        wait_until(lambda: self.left(queue) == 0, timeout)

    def effects(self) -> list[int]:
        return column(self.db, "select message_id from work.effects order by 1")

    def trace(self, message_id: int) -> list[int]:
        """The delivery counts that handlers saw, in order."""
        return column(self.db, "select delivery from work.trace where message_id = %s order by at", (message_id,))

    def wait_in_handler(self, message_id: int, times: int = 1) -> int:
        """Wait until a handler has got a message; the handler's process."""
        wait_until(lambda: len(self.trace(message_id)) >= times)
        pid: int = column(self.db, "select pid from work.trace where message_id = %s order by at desc", (message_id,))[
            0
        ]
        return pid

    def incidents(self, message_id: int) -> list[str]:
        """Error classes of the failures recorded for a message, first to last."""
        return column(
            self.db, "select error_class from howdah.incidents() where message = %s order by incident_id", (message_id,)
        )

    def blamed(self) -> set[int]:
        return set(column(self.db, "select distinct message from howdah.incidents()"))

    def dead(self) -> list[int]:
        return column(self.db, "select message_id from howdah.audit_messages where state = 'dead' order by 1")

    def gate_at(self, step: str) -> int:
        """Put the gate at one of the HARDENED_STEPS, and send a message on its way there."""
        event, when, body = HARDENED_STEPS[step]
        self.db.execute(f"create {event} {when} for each row execute function work.gate()".encode())
        return self.send(body)[0]

    def at_gate(self) -> list[int]:
        """Server processes of the sessions that wait there; a killed client's does until the server notices."""
        waiting = "select pid from pg_stat_activity where datname = current_database() and wait_event = 'advisory'"
        return column(self.db, waiting)

    @contextmanager
    def gate(self) -> Iterator[None]:
        """While this is open, handlers wait at the gate."""
        with psycopg.connect(self._dsn, autocommit=True) as holder:
            holder.execute("select pg_advisory_lock(7)")
            yield
