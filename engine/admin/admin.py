# Written by tools/make_sync.py from engine/aio/admin/admin.py: change that, and run make sync.
"""Administration of queues and workers: names and argument types of the procedures, nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from ..calls import Call, Rows, Seconds, consumers, interval, scalar, table
from ..calls.admin_options import EngineOptions, ListenerOptions, QueueOptions, StorageOptions
from ..calls.bodies import to_json
from ..calls.columns import (
    ENGINE_COLUMNS,
    EXCEPTION_COLUMNS,
    FIGURE_COLUMNS,
    FLOW_COLUMNS,
    GROUP_COLUMNS,
    HEALTH_COLUMNS,
    LIMIT_COLUMNS,
    LISTENER_COLUMNS,
    OPEN_COLUMNS,
    QUEUE_COLUMNS,
    SELECTOR_COLUMNS,
    SERVICES,
    STATE_COLUMNS,
    STATS_COLUMNS,
    TIME_COLUMNS,
    WORKER_COLUMNS,
)
from ..errors import BadArgument
from .locks import Locks
from .topics import Topics


class Admin(Topics, Locks):
    """Administration over anything that runs a call: a connection, a session, a test."""

    def create_queue(self, queue: str, **options: Unpack[QueueOptions]) -> int:
        """Create a queue. The SQL API lists the options. Raises QueueExists, BadName, BadOption."""
        return self._run(scalar("create_queue", queue=("text", queue), options=("jsonb", to_json(options))).then(int))

    def alter_queue(self, queue: str, **options: Unpack[QueueOptions]) -> None:
        """Change options of a queue."""
        self._run(scalar("alter_queue", queue=("text", queue), options=("jsonb", to_json(options))))

    def drop_queue(self, queue: str, *, force: bool = False) -> int:
        """Drop a queue. ``force`` discards its messages; returns how many. Raises QueueNotEmpty."""
        return self._run(scalar("drop_queue", queue=("text", queue), force=("boolean", force)).then(int))

    def purge_queue(self, queue: str) -> int:
        """Discard a queue's messages and return their number."""
        return self._run(scalar("purge_queue", queue=("text", queue)).then(int))

    def pause(self, queue: str, *, sending: bool = True, receiving: bool = True) -> None:
        """Stop sending to a queue, receiving from it, or both."""
        self._run(_switch("pause", queue, sending, receiving))

    def resume(self, queue: str, *, sending: bool = True, receiving: bool = True) -> None:
        """Allow sending, receiving or both again."""
        self._run(_switch("resume", queue, sending, receiving))

    def list_queues(self, *, temporary: bool = False) -> Rows:
        """Return every queue with its options, temporary queues only on request."""
        return self._run(table("list_queues", QUEUE_COLUMNS, temporary=("boolean", temporary or None)))

    def queue_stats(self, queue: str | None = None) -> Rows:
        """Return figures of one queue or of all."""
        return self._run(table("queue_stats", STATS_COLUMNS, queue=("text", queue)))

    def exception_figures(self) -> Rows:
        """Return what lies in each exception destination: dead messages, and others that wait."""
        return self._run(table("exception_figures", EXCEPTION_COLUMNS))

    def open_transactions(self, min_age: Seconds | None = None) -> Rows:
        """Return what holds things up: transactions that are open or prepared, and replication slots.

        min_age: how old an open one is at least; without it ten seconds.
        """
        arguments = {"min_age": ("interval", interval("min_age", min_age))}
        return self._run(table("list_open_transactions", OPEN_COLUMNS, **arguments))

    def queue_figures(self, queues: Sequence[str] = (), busiest: int = 100) -> Rows:
        """Return kept figures of all queues, the busiest and named ones."""
        call = table("queue_figures", FIGURE_COLUMNS, queues=("text[]", list(queues)), busiest=("integer", busiest))
        return self._run(call)

    def queue_names(self, part: str | None = None, *, after: str | None = None, limit: int = 100) -> list[str]:
        """Return names of queues in order that have a part in them."""
        rows = self._run(
            table(
                "queue_names",
                "queue_names",
                part=("text", part),
                after_name=("text", after),
                max_names=("integer", limit),
            )
        )
        return [row["queue_names"] for row in rows]

    def flow_history(self, queue: str | None = None, span: str = "hour") -> Rows:
        """Return what went in and out of a queue, or of all, in the last hour, day or week."""
        return self._run(table("flow_history", FLOW_COLUMNS, queue=("text", queue), span=("text", span)))

    def queue_times(self, queue: str) -> Rows:
        """Return how long a queue's messages waited, and how long their handlers took."""
        return self._run(table("queue_times", TIME_COLUMNS, queue=("text", queue)))

    def list_groups(self, queue: str, max_groups: int | None = None) -> Rows:
        """Return message groups of a queue, those with most messages first: what each has, and who has it."""
        arguments = {"queue": ("text", queue), "max_groups": ("integer", max_groups)}
        return self._run(table("list_groups", GROUP_COLUMNS, **arguments))

    def list_handler_limits(self, queue: str | None = None) -> Rows:
        """Return the limits of concurrency and rates of one queue or all, and how far they are used."""
        return self._run(table("list_handler_limits", LIMIT_COLUMNS, queue=("text", queue)))

    def list_selectors(self, queue: str, max_selectors: int | None = None) -> Rows:
        """Return the selectors that choose among a queue's messages, or let messages into it."""
        arguments = {"queue": ("text", queue), "max_selectors": ("integer", max_selectors)}
        return self._run(table("list_selectors", SELECTOR_COLUMNS, **arguments))

    def metrics(self, queues: int = 100) -> Rows:
        """Return what monitoring asks for, sample by sample: the engine, and so many queues, the busiest first."""
        return self._run(table("metrics", "name, labels, value, created", queues=("integer", queues)))

    def list_consumers(self, queue: str) -> Rows:
        """Return a queue's open consumers in the order of their opening, and which of them get messages."""
        return self._run(consumers.list_consumers(queue))

    def queue_options(self, queue: str) -> dict[str, Any]:
        """Return every option of a queue with its value."""
        options: Call[dict[str, Any]] = scalar("queue_options", queue=("text", queue))
        return self._run(options)

    def default_options(self, preset: str = "howdah") -> dict[str, Any]:
        """Return every option of a queue that is created with only a preset."""
        options: Call[dict[str, Any]] = scalar("default_options", preset=("text", preset))
        return self._run(options)

    def alter_engine(self, **options: Unpack[EngineOptions]) -> None:
        """Change properties of the whole engine, such as max_size ("5m"). Raises BadOption."""
        self._run(scalar("alter_engine", options=("jsonb", to_json(options))))

    def engine_options(self) -> dict[str, Any]:
        """Return the properties of the whole engine."""
        options: Call[dict[str, Any]] = scalar("engine_options")
        return self._run(options)

    def resource_state(self, *, exact: bool = True) -> dict[str, Any]:
        """Return how full the engine is: state (green to red), content and limits.

        It counts every message, unless ``exact`` is false: then it says what maintenance counted last, without bytes.
        """
        rows = self._run(table("resource_state", STATE_COLUMNS, exact=("boolean", exact)))
        return rows[0]

    def engine_state(self) -> dict[str, Any]:
        """Return whether the engine runs: state, since, changed_by, and the transactions, leases and pids under way."""
        rows = self._run(table("engine_state", ENGINE_COLUMNS))
        return rows[0]

    def pause_engine(self, reason: str | None = None) -> bool:
        """Let nobody send or receive in the whole engine. Returns whether it was running."""
        return self._run(scalar("pause_engine", reason=("text", reason)).then(bool))

    def quiesce_engine(self, reason: str | None = None) -> bool:
        """Let no new work begin in the engine, and let what is under way end. Returns whether that changed anything."""
        return self._run(scalar("quiesce_engine", reason=("text", reason)).then(bool))

    def stop_engine(self, timeout: Seconds = 30, reason: str | None = None) -> dict[str, Any]:
        """Quiesce the engine, wait until nothing is under way, and mark the stop. Returns as ``engine_state``.

        After ``timeout`` seconds the state is quiescing: call again. The same holds in a session's open transaction,
        which must commit between two calls. Non-persistent messages are lost once the engine runs again.
        """
        self.quiesce_engine(reason)
        arguments: dict[str, tuple[str, Any]] = {
            "timeout": ("interval", interval("timeout", timeout)),
            "reason": ("text", reason),
        }
        rows = self._run(table("stop_engine", ENGINE_COLUMNS, **arguments))
        return rows[0]

    def resume_engine(self, reason: str | None = None) -> bool:
        """Let everybody send and receive again. Returns whether the engine was paused, quiesced or stopped."""
        return self._run(scalar("resume_engine", reason=("text", reason)).then(bool))

    def create_listener(self, listener: str, queue: str, **options: Unpack[ListenerOptions]) -> str | None:
        """Create a listener. Returns a warning if its limit contradicts the queue's. Raises ListenerExists."""
        return self._run(_listener("create_listener", listener, options, queue=("text", queue)))

    def ensure_listener(self, listener: str, queue: str, **options: Unpack[ListenerOptions]) -> str | None:
        """Create a listener unless it exists. Returns a warning as create_listener."""
        return self._run(_listener("ensure_listener", listener, options, queue=("text", queue)))

    def alter_listener(self, listener: str, **options: Unpack[ListenerOptions]) -> str | None:
        """Change options of a listener. Returns a warning as create_listener."""
        return self._run(_listener("alter_listener", listener, options))

    def drop_listener(self, listener: str) -> None:
        """Drop a listener. Its queue stays."""
        self._run(scalar("drop_listener", listener=("text", listener)))

    def list_listeners(self, listener: str | None = None) -> Rows:
        """Return every listener, or one, with options, counter and status."""
        return self._run(table("list_listeners", LISTENER_COLUMNS, listener=("text", listener)))

    def stop_listener(self, listener: str, reason: str | None = None) -> bool:
        """Stop a listener. Returns whether it was running."""
        return self._run(scalar("stop_listener", listener=("text", listener), reason=("text", reason)).then(bool))

    def resume_listener(self, listener: str) -> bool:
        """Resume a stopped listener. Returns whether it was stopped."""
        return self._run(scalar("resume_listener", listener=("text", listener)).then(bool))

    def check_server(self) -> Rows:
        """Return settings of server and engine that suit only learning: setting, value, danger, advice."""
        return self._run(table("check_server", "setting, value, danger, advice"))

    def health(self, instance: str | None = None) -> Rows:
        """Return whether the database serves messages now, by checks: name, state, detail, advice, facts.

        ``instance``: look at this one's state in place of how many run.
        """
        return self._run(table("health", HEALTH_COLUMNS, instance=("text", instance)))

    def list_storage(self) -> Rows:
        """Return sizes and storage parameters of the message tables."""
        return self._run(table("list_storage", "table_name, bytes, live_rows, dead_rows, vacuumed_at, options"))

    def set_storage(self, **options: Unpack[StorageOptions]) -> None:
        """Set storage parameters of the message tables, such as fillfactor. None resets one. Raises BadOption."""
        self._run(scalar("set_storage", options=("jsonb", to_json(options))))

    def list_workers(self) -> Rows:
        """Return the registered worker processes."""
        return self._run(table("list_workers", WORKER_COLUMNS))

    def register_worker(
        self, name: str, host: str, pid: int, sessions: int, queues: Sequence[str], *, instance: str | None = None
    ) -> str:
        """Register a worker process, of an instance or of none. Returns its identity."""
        arguments: dict[str, tuple[str, Any]] = {
            "name": ("text", name),
            "host": ("text", host),
            "pid": ("integer", pid),
            "sessions": ("integer", sessions),
            "queues": ("text[]", list(queues)),
            "instance": ("uuid", instance),
        }
        return self._run(scalar("register_worker", **arguments).then(str))

    def heartbeat(self, worker_id: str, in_hand: dict[str, int]) -> None:
        """Record that a worker is alive. Raises UnknownWorker if it was taken for dead."""
        self._run(scalar("heartbeat", worker_id=("uuid", worker_id), in_hand=("jsonb", to_json(in_hand))))

    def record_worker_figures(self, worker_id: str, seconds: float, figures: list[dict[str, Any]]) -> int:
        """Record what a worker has done in the last seconds. Raises UnknownWorker if it was taken for dead."""
        arguments: dict[str, tuple[str, Any]] = {
            "worker_id": ("uuid", worker_id),
            "seconds": ("numeric", seconds),
            "figures": ("jsonb", to_json(figures)),
        }
        return self._run(scalar("record_worker_figures", **arguments).then(int))

    def unregister_worker(self, worker_id: str) -> None:
        """Record that a worker has ended."""
        self._run(scalar("unregister_worker", worker_id=("uuid", worker_id)))

    def maintain(self, service: str, epoch: int | None = None) -> int | str:
        """Run one of SERVICES. Returns the procedure's count or text."""
        if service not in SERVICES:
            raise BadArgument(f"there is no maintenance service {service!r}", f"Known are: {', '.join(SERVICES)}.")
        done: Call[int | str] = scalar(f"maintain_{service}", lock_epoch=("bigint", epoch))
        return self._run(done)


def _switch(verb: str, queue: str, sending: bool, receiving: bool) -> Call[Any]:
    return scalar(verb, queue=("text", queue), sending=("boolean", sending), receiving=("boolean", receiving))


def _listener(verb: str, listener: str, options: ListenerOptions, **more: tuple[str, Any]) -> Call[str | None]:
    return scalar(verb, listener=("text", listener), **more, options=("jsonb", to_json(options)))
