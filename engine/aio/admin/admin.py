"""Administration of queues and workers: names and argument types of the procedures, nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from ...calls import Call, Rows, Seconds, consumers, interval, scalar, table
from ...calls.admin_options import EngineOptions, ListenerOptions, QueueOptions, StorageOptions
from ...calls.bodies import to_json
from ...calls.columns import (
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
from ...errors import BadArgument
from .locks import AsyncLocks
from .topics import AsyncTopics


class AsyncAdmin(AsyncTopics, AsyncLocks):
    """Administration over anything that runs a call: a connection, a session, a test."""

    async def create_queue(self, queue: str, **options: Unpack[QueueOptions]) -> int:
        """Create a queue. The SQL API lists the options. Raises QueueExists, BadName, BadOption."""
        return await self._run(
            scalar("create_queue", queue=("text", queue), options=("jsonb", to_json(options))).then(int)
        )

    async def alter_queue(self, queue: str, **options: Unpack[QueueOptions]) -> None:
        """Change options of a queue."""
        await self._run(scalar("alter_queue", queue=("text", queue), options=("jsonb", to_json(options))))

    async def drop_queue(self, queue: str, *, force: bool = False) -> int:
        """Drop a queue. ``force`` discards its messages; returns how many. Raises QueueNotEmpty."""
        return await self._run(scalar("drop_queue", queue=("text", queue), force=("boolean", force)).then(int))

    async def purge_queue(self, queue: str) -> int:
        """Discard a queue's messages and return their number."""
        return await self._run(scalar("purge_queue", queue=("text", queue)).then(int))

    async def pause(self, queue: str, *, sending: bool = True, receiving: bool = True) -> None:
        """Stop sending to a queue, receiving from it, or both."""
        await self._run(_switch("pause", queue, sending, receiving))

    async def resume(self, queue: str, *, sending: bool = True, receiving: bool = True) -> None:
        """Allow sending, receiving or both again."""
        await self._run(_switch("resume", queue, sending, receiving))

    async def list_queues(self, *, temporary: bool = False) -> Rows:
        """Return every queue with its options, temporary queues only on request."""
        return await self._run(table("list_queues", QUEUE_COLUMNS, temporary=("boolean", temporary or None)))

    async def queue_stats(self, queue: str | None = None) -> Rows:
        """Return figures of one queue or of all."""
        return await self._run(table("queue_stats", STATS_COLUMNS, queue=("text", queue)))

    async def exception_figures(self) -> Rows:
        """Return what lies in each exception destination: dead messages, and others that wait."""
        return await self._run(table("exception_figures", EXCEPTION_COLUMNS))

    async def open_transactions(self, min_age: Seconds | None = None) -> Rows:
        """Return what holds things up: transactions that are open or prepared, and replication slots.

        min_age: how old an open one is at least; without it ten seconds.
        """
        arguments = {"min_age": ("interval", interval("min_age", min_age))}
        return await self._run(table("list_open_transactions", OPEN_COLUMNS, **arguments))

    async def queue_figures(self, queues: Sequence[str] = (), busiest: int = 100) -> Rows:
        """Return kept figures of all queues, the busiest and named ones."""
        call = table("queue_figures", FIGURE_COLUMNS, queues=("text[]", list(queues)), busiest=("integer", busiest))
        return await self._run(call)

    async def queue_names(self, part: str | None = None, *, after: str | None = None, limit: int = 100) -> list[str]:
        """Return names of queues in order that have a part in them."""
        rows = await self._run(
            table(
                "queue_names",
                "queue_names",
                part=("text", part),
                after_name=("text", after),
                max_names=("integer", limit),
            )
        )
        return [row["queue_names"] for row in rows]

    async def flow_history(self, queue: str | None = None, span: str = "hour") -> Rows:
        """Return what went in and out of a queue, or of all, in the last hour, day or week."""
        return await self._run(table("flow_history", FLOW_COLUMNS, queue=("text", queue), span=("text", span)))

    async def queue_times(self, queue: str) -> Rows:
        """Return how long a queue's messages waited, and how long their handlers took."""
        return await self._run(table("queue_times", TIME_COLUMNS, queue=("text", queue)))

    async def list_groups(self, queue: str, max_groups: int | None = None) -> Rows:
        """Return message groups of a queue, those with most messages first: what each has, and who has it."""
        arguments = {"queue": ("text", queue), "max_groups": ("integer", max_groups)}
        return await self._run(table("list_groups", GROUP_COLUMNS, **arguments))

    async def list_handler_limits(self, queue: str | None = None) -> Rows:
        """Return the limits of concurrency and rates of one queue or all, and how far they are used."""
        return await self._run(table("list_handler_limits", LIMIT_COLUMNS, queue=("text", queue)))

    async def list_selectors(self, queue: str, max_selectors: int | None = None) -> Rows:
        """Return the selectors that choose among a queue's messages, or let messages into it."""
        arguments = {"queue": ("text", queue), "max_selectors": ("integer", max_selectors)}
        return await self._run(table("list_selectors", SELECTOR_COLUMNS, **arguments))

    async def metrics(self, queues: int = 100) -> Rows:
        """Return what monitoring asks for, sample by sample: the engine, and so many queues, the busiest first."""
        return await self._run(table("metrics", "name, labels, value, created", queues=("integer", queues)))

    async def list_consumers(self, queue: str) -> Rows:
        """Return a queue's open consumers in the order of their opening, and which of them get messages."""
        return await self._run(consumers.list_consumers(queue))

    async def queue_options(self, queue: str) -> dict[str, Any]:
        """Return every option of a queue with its value."""
        options: Call[dict[str, Any]] = scalar("queue_options", queue=("text", queue))
        return await self._run(options)

    async def default_options(self, preset: str = "howdah") -> dict[str, Any]:
        """Return every option of a queue that is created with only a preset."""
        options: Call[dict[str, Any]] = scalar("default_options", preset=("text", preset))
        return await self._run(options)

    async def alter_engine(self, **options: Unpack[EngineOptions]) -> None:
        """Change properties of the whole engine, such as max_size ("5m"). Raises BadOption."""
        await self._run(scalar("alter_engine", options=("jsonb", to_json(options))))

    async def engine_options(self) -> dict[str, Any]:
        """Return the properties of the whole engine."""
        options: Call[dict[str, Any]] = scalar("engine_options")
        return await self._run(options)

    async def resource_state(self, *, exact: bool = True) -> dict[str, Any]:
        """Return how full the engine is: state (green to red), content and limits.

        It counts every message, unless ``exact`` is false: then it says what maintenance counted last, without bytes.
        """
        rows = await self._run(table("resource_state", STATE_COLUMNS, exact=("boolean", exact)))
        return rows[0]

    async def engine_state(self) -> dict[str, Any]:
        """Return whether the engine runs: state, since, changed_by, and the transactions, leases and pids under way."""
        rows = await self._run(table("engine_state", ENGINE_COLUMNS))
        return rows[0]

    async def pause_engine(self, reason: str | None = None) -> bool:
        """Let nobody send or receive in the whole engine. Returns whether it was running."""
        return await self._run(scalar("pause_engine", reason=("text", reason)).then(bool))

    async def quiesce_engine(self, reason: str | None = None) -> bool:
        """Let no new work begin in the engine, and let what is under way end. Returns whether that changed anything."""
        return await self._run(scalar("quiesce_engine", reason=("text", reason)).then(bool))

    async def stop_engine(self, timeout: Seconds = 30, reason: str | None = None) -> dict[str, Any]:
        """Quiesce the engine, wait until nothing is under way, and mark the stop. Returns as ``engine_state``.

        After ``timeout`` seconds the state is quiescing: call again. The same holds in a session's open transaction,
        which must commit between two calls. Non-persistent messages are lost once the engine runs again.
        """
        await self.quiesce_engine(reason)
        arguments: dict[str, tuple[str, Any]] = {
            "timeout": ("interval", interval("timeout", timeout)),
            "reason": ("text", reason),
        }
        rows = await self._run(table("stop_engine", ENGINE_COLUMNS, **arguments))
        return rows[0]

    async def resume_engine(self, reason: str | None = None) -> bool:
        """Let everybody send and receive again. Returns whether the engine was paused, quiesced or stopped."""
        return await self._run(scalar("resume_engine", reason=("text", reason)).then(bool))

    async def create_listener(self, listener: str, queue: str, **options: Unpack[ListenerOptions]) -> str | None:
        """Create a listener. Returns a warning if its limit contradicts the queue's. Raises ListenerExists."""
        return await self._run(_listener("create_listener", listener, options, queue=("text", queue)))

    async def ensure_listener(self, listener: str, queue: str, **options: Unpack[ListenerOptions]) -> str | None:
        """Create a listener unless it exists. Returns a warning as create_listener."""
        return await self._run(_listener("ensure_listener", listener, options, queue=("text", queue)))

    async def alter_listener(self, listener: str, **options: Unpack[ListenerOptions]) -> str | None:
        """Change options of a listener. Returns a warning as create_listener."""
        return await self._run(_listener("alter_listener", listener, options))

    async def drop_listener(self, listener: str) -> None:
        """Drop a listener. Its queue stays."""
        await self._run(scalar("drop_listener", listener=("text", listener)))

    async def list_listeners(self, listener: str | None = None) -> Rows:
        """Return every listener, or one, with options, counter and status."""
        return await self._run(table("list_listeners", LISTENER_COLUMNS, listener=("text", listener)))

    async def stop_listener(self, listener: str, reason: str | None = None) -> bool:
        """Stop a listener. Returns whether it was running."""
        return await self._run(scalar("stop_listener", listener=("text", listener), reason=("text", reason)).then(bool))

    async def resume_listener(self, listener: str) -> bool:
        """Resume a stopped listener. Returns whether it was stopped."""
        return await self._run(scalar("resume_listener", listener=("text", listener)).then(bool))

    async def check_server(self) -> Rows:
        """Return settings of server and engine that suit only learning: setting, value, danger, advice."""
        return await self._run(table("check_server", "setting, value, danger, advice"))

    async def health(self, instance: str | None = None) -> Rows:
        """Return whether the database serves messages now, by checks: name, state, detail, advice, facts.

        ``instance``: look at this one's state in place of how many run.
        """
        return await self._run(table("health", HEALTH_COLUMNS, instance=("text", instance)))

    async def list_storage(self) -> Rows:
        """Return sizes and storage parameters of the message tables."""
        return await self._run(table("list_storage", "table_name, bytes, live_rows, dead_rows, vacuumed_at, options"))

    async def set_storage(self, **options: Unpack[StorageOptions]) -> None:
        """Set storage parameters of the message tables, such as fillfactor. None resets one. Raises BadOption."""
        await self._run(scalar("set_storage", options=("jsonb", to_json(options))))

    async def list_workers(self) -> Rows:
        """Return the registered worker processes."""
        return await self._run(table("list_workers", WORKER_COLUMNS))

    async def register_worker(
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
        return await self._run(scalar("register_worker", **arguments).then(str))

    async def heartbeat(self, worker_id: str, in_hand: dict[str, int]) -> None:
        """Record that a worker is alive. Raises UnknownWorker if it was taken for dead."""
        await self._run(scalar("heartbeat", worker_id=("uuid", worker_id), in_hand=("jsonb", to_json(in_hand))))

    async def record_worker_figures(self, worker_id: str, seconds: float, figures: list[dict[str, Any]]) -> int:
        """Record what a worker has done in the last seconds. Raises UnknownWorker if it was taken for dead."""
        arguments: dict[str, tuple[str, Any]] = {
            "worker_id": ("uuid", worker_id),
            "seconds": ("numeric", seconds),
            "figures": ("jsonb", to_json(figures)),
        }
        return await self._run(scalar("record_worker_figures", **arguments).then(int))

    async def unregister_worker(self, worker_id: str) -> None:
        """Record that a worker has ended."""
        await self._run(scalar("unregister_worker", worker_id=("uuid", worker_id)))

    async def maintain(self, service: str, epoch: int | None = None) -> int | str:
        """Run one of SERVICES. Returns the procedure's count or text."""
        if service not in SERVICES:
            raise BadArgument(f"there is no maintenance service {service!r}", f"Known are: {', '.join(SERVICES)}.")
        done: Call[int | str] = scalar(f"maintain_{service}", lock_epoch=("bigint", epoch))
        return await self._run(done)


def _switch(verb: str, queue: str, sending: bool, receiving: bool) -> Call[Any]:
    return scalar(verb, queue=("text", queue), sending=("boolean", sending), receiving=("boolean", receiving))


def _listener(verb: str, listener: str, options: ListenerOptions, **more: tuple[str, Any]) -> Call[str | None]:
    return scalar(verb, listener=("text", listener), **more, options=("jsonb", to_json(options)))
