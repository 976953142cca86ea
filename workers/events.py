"""The log vocabulary: every line that workers write, in one place.

Code calls these functions; ``log.writer.configure`` decides whether a line is text for people or JSON for machines.
"""

from __future__ import annotations

import logging
import os
from typing import Any

from ..engine.errors import is_servers
from ..engine.handling.failure import text_of

log = logging.getLogger("howdah.worker")
engine_log = logging.getLogger("howdah.engine")
"""What happens in the database."""
metrics_log = logging.getLogger("howdah.metrics")

LINE = frozenset({"at", "level", "event", "logger", "traceback"})
"""What a line in JSON says of itself."""


def _emit(level: int, event: str, **fields: Any) -> None:
    log.log(level, event, extra={"fields": {name: value for name, value in fields.items() if value is not None}})


def worker_started(worker: str, sessions: int, queues: list[str], database: str) -> None:
    """A worker process is ready, in which database."""
    _emit(logging.INFO, "worker started", worker=worker, sessions=sessions, queues=queues, database=database)


def database_awaited(error: BaseException, pause: float) -> None:
    """The database does not answer at the workers' start, so they wait and try again."""
    _emit(logging.WARNING, "waiting for the database", error=str(error), retry_seconds=round(pause, 2))


def worker_not_replaced(error: BaseException, pause: float) -> None:
    """A worker process could not be started in place of another."""
    _emit(logging.ERROR, "worker not replaced", error=str(error), retry_seconds=round(pause, 2))


def instance_state(instance: str, state: str, waits_for: str | None) -> None:
    """An instance has another state."""
    _emit(logging.INFO, "instance state", instance=instance, state=state, waits_for=waits_for)


def instance_refused(instance: str, error: BaseException) -> None:
    """An instance may not run, and ends."""
    _emit(logging.ERROR, "instance refused", instance=instance, error=str(error))


def changes_missed(instance: str, missed: int, *, reset: bool) -> None:
    """An instance was away while the configuration was changed, or the record of changes is another one."""
    _emit(logging.WARNING, "changes missed", instance=instance, missed=missed, reset=reset or None)


def configuration_changed(instance: str, change: dict[str, Any]) -> None:
    """An instance has read a change of the configuration."""
    fields = {name: change[name] for name in ("change_id", "kind", "name", "act", "actor")}
    _emit(logging.INFO, "configuration changed", instance=instance, **fields)


def worker_stopping(worker: str, signal: str) -> None:
    """A worker process finishes what it has in hand."""
    _emit(logging.INFO, "worker stopping", worker=worker, signal=signal)


def worker_stopped(worker: str, handled: int, failed: int) -> None:
    """A worker process has stopped in order."""
    _emit(logging.INFO, "worker stopped", worker=worker, handled=handled, failed=failed)


def queues_empty(queues: list[str]) -> None:
    """All queues are empty, so the workers stop (--until-empty)."""
    _emit(logging.INFO, "queues empty", queues=queues)


def not_started(target: str, error: BaseException) -> None:
    """A worker process did not find its application."""
    _emit(logging.ERROR, "worker not started", target=target, error=str(error))


def worker_died(worker: str, pid: int, code: int) -> None:
    """A worker process ended by itself or was killed; code is negative for a signal."""
    _emit(logging.ERROR, "worker died", worker=worker, pid=pid, code=code)


def reloading(files: list[str]) -> None:
    """Files of the application have changed, so its workers restart."""
    _emit(logging.INFO, "reloading", files=files)


def forked_failed(worker: str, error: BaseException) -> None:
    """A process that a handler forked left the handler by an error. It has ended."""
    message = f"{type(error).__name__}: {text_of(error)}"
    _emit(logging.ERROR, "forked process failed", worker=worker, pid=os.getpid(), error=message)


def handler_over_time(worker: str, seconds: float) -> None:
    """A handler is over its time limit, so its statement is cancelled."""
    _emit(logging.WARNING, "handler over its time limit", worker=worker, seconds=seconds)


def failure_recorded(worker: str, queue: str, message_id: int, attempt: int, outcome: str, error: str) -> None:
    """A failed delivery was recorded."""
    _emit(
        logging.WARNING,
        "delivery failed",
        worker=worker,
        queue=queue,
        message=message_id,
        attempt=attempt,
        outcome=outcome,
        error=error,
    )


def failures_lost(worker: str, queue: str, messages: list[int], error: BaseException) -> None:
    """Failed deliveries could not be recorded. Their messages are back in the queue, best-effort ones gone."""
    _emit(logging.ERROR, "failures not recorded", worker=worker, queue=queue, messages=messages, error=str(error))


def retried(worker: str, queue: str, error: BaseException) -> None:
    """A transaction failed for a reason that blames no message. It is a warning if an administrator must help."""
    level = logging.WARNING if is_servers(error) else logging.INFO
    _emit(level, "transaction retried", worker=worker, queue=queue, error=f"{type(error).__name__}: {error}")


def connection_lost(worker: str, error: BaseException, pause: float) -> None:
    """The database does not answer; another attempt follows after ``pause`` seconds."""
    _emit(logging.WARNING, "database lost", worker=worker, error=str(error), retry_seconds=round(pause, 2))


def receive_refused(worker: str, queue: str, error: BaseException) -> None:
    """A queue is paused, missing or forbidden; it is tried again later."""
    _emit(logging.WARNING, "cannot receive", worker=worker, queue=queue, error=str(error))


def hook_told(worker: str, hook: str, message_id: int, event: str) -> None:
    """A webhook or mail server has accepted an event."""
    _emit(logging.INFO, "hook told", worker=worker, hook=hook, message=message_id, told=event)


def listener_contradicts(worker: str, listener: str, warning: str) -> None:
    """A listener's limit contradicts that of its queue."""
    _emit(logging.WARNING, "listener contradicts its queue", worker=worker, listener=listener, warning=warning)


def listener_stopped(
    worker: str, listener: str, queue: str, message_id: int | None, failures: int, reason: str | None
) -> None:
    """A listener was stopped, by the failure of that message or by hand: the process receives nothing through it."""
    _emit(
        logging.ERROR,
        "listener stopped",
        worker=worker,
        listener=listener,
        queue=queue,
        message=message_id,
        failures=failures,
        reason=reason,
    )


def listener_resumed(worker: str, listener: str, queue: str) -> None:
    """A stopped listener runs again."""
    _emit(logging.INFO, "listener resumed", worker=worker, listener=listener, queue=queue)


def maintained(worker: str, service: str, count: int | str) -> None:
    """A maintenance service did something."""
    _emit(logging.INFO, "maintenance", worker=worker, service=service, count=count)


def maintenance_failed(worker: str, service: str, error: BaseException) -> None:
    """A maintenance service failed; its next run is not affected."""
    _emit(logging.WARNING, "maintenance failed", worker=worker, service=service, error=str(error))


def transaction_rolled_back(worker: str, gid: str) -> None:
    """A transaction that was prepared before the server's start was rolled back (autorollback)."""
    _emit(logging.WARNING, "prepared transaction rolled back", worker=worker, gid=gid)


def schedules_fired(worker: str, count: int) -> None:
    """Schedules sent messages."""
    _emit(logging.DEBUG, "schedules fired", worker=worker, count=count)


def schedule_refused(worker: str, schedule: str, error: BaseException) -> None:
    """A schedule that the application declares could not be created; it is tried again later."""
    _emit(logging.WARNING, "schedule refused", worker=worker, schedule=schedule, error=str(error))


def time_zone_unknown(worker: str, time_zone: str, error: BaseException) -> None:
    """The host does not have a time zone, so its scheduler leaves the schedules in it to others."""
    _emit(logging.ERROR, "time zone unknown", worker=worker, time_zone=time_zone, error=str(error))


def scheduler_failed(worker: str, error: BaseException) -> None:
    """A pass of the scheduler failed; what is due stays due."""
    _emit(logging.WARNING, "scheduler failed", worker=worker, error=str(error))


def link_away(link: str, error: BaseException, pause: float) -> None:
    """Nothing can be forwarded over a link, which is tried again and again."""
    _emit(logging.WARNING, "link away", link=link, error=str(error), retry_seconds=round(pause, 2))


def link_back(link: str) -> None:
    """A link forwards again."""
    _emit(logging.INFO, "link back", link=link)


def link_refused(link: str, messages: int, outcomes: list[str], error: BaseException) -> None:
    """The target refused messages. Failures of them were recorded."""
    _emit(
        logging.WARNING,
        "link refused messages",
        link=link,
        messages=messages,
        outcomes=sorted(set(outcomes)),
        error=str(error),
    )


def happened(level: int, entry: dict[str, Any]) -> None:
    """An event of the engine, as howdah.read_log has it."""
    known = {"code": entry["event"], "queue": entry["destination"], "by": entry["actor"], "happened_at": entry["at"]}
    fields = {name: value for name, value in known.items() if value is not None}
    for name, value in entry["details"].items():
        # An application chose these names. None may replace a field of the line itself.
        fields[f"{name}_" if name in LINE or name in known else name] = value
    engine_log.log(level, "%s", entry["text"], extra={"fields": fields})


def log_unread(reader: str, error: BaseException, pause: float) -> None:
    """The engine's events cannot be read; they will be written later."""
    _emit(
        logging.WARNING, "events of the engine not read", reader=reader, error=str(error), retry_seconds=round(pause, 2)
    )


def metrics(fields: dict[str, Any]) -> None:
    """What went in and out per second since the last such line."""
    metrics_log.info("metrics", extra={"fields": fields})


def links_unknown(worker: str, error: BaseException, pause: float) -> None:
    """A process could not read the list of links."""
    _emit(logging.WARNING, "links unknown", worker=worker, error=str(error), retry_seconds=round(pause, 2))
