"""The backend of Django's Tasks: a task is a message, enqueued in Django's own transaction."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.core import checks
from django.db import connections
from django.utils import timezone

from ..engine import Session
from ..engine.calls.call import scalar
from ..engine.calls.results import Result
from ..engine.database.runner import run
from . import results
from .connections import raw
from .interface import (
    BaseTaskBackend,
    Task,
    TaskResult,
    TaskResultDoesNotExist,
    TaskResultStatus,
    task_backends,
    task_enqueued,
)

PREFIX = "django."
DATABASE = "HOWDAH_DJANGO_DATABASE"
"""The environment's variable by which manage.py tells a worker's processes which of DATABASES they serve."""
OPTIONS = {"database", "prefix", "queue_options"}


class Backend(BaseTaskBackend):  # type: ignore[misc]
    """A backend for TASKS. OPTIONS: database, an alias of DATABASES; prefix, of the queues' names in Howdah."""

    supports_defer = True
    supports_async_task = True
    supports_get_result = True
    supports_priority = True

    def __init__(self, alias: str, params: dict[str, Any]) -> None:
        super().__init__(alias, params)
        self.database: str = self.options.get("database", "default")
        self.prefix: str = self.options.get("prefix", PREFIX)
        #: Options with which ``manage.py howdah migrate`` creates the queues.
        self.queue_options: dict[str, Any] = {"keep_results_ms": 86_400_000, **self.options.get("queue_options", {})}

    def queue_of(self, queue_name: str) -> str:
        """Return the name in Howdah of one of the backend's queues."""
        return self.prefix + queue_name

    def enqueue(self, task: Task, args: Any, kwargs: Any) -> TaskResult:
        """Send the task in the current transaction: in ``atomic()`` it is rolled back with the block."""
        self.validate_task(task)
        result = TaskResult(
            task=task,
            id="",
            status=TaskResultStatus.READY,
            enqueued_at=timezone.now(),
            started_at=None,
            finished_at=None,
            last_attempted_at=None,
            args=args,
            kwargs=kwargs,
            backend=self.alias,
            errors=[],
            worker_ids=[],
        )
        with raw(self.database) as connection:
            delay = None
            if task.run_after is not None:
                delay = run(connection, scalar("delay_until", at=("timestamptz", aware(task.run_after))))
            number = Session(connection).send(
                self.queue_of(task.queue_name),
                results.body_of(result),
                message_type=task.module_path,
                priority=priority_of(task.priority),
                delay=delay,
            )
        object.__setattr__(result, "id", f"{task.queue_name}:{number}")
        task_enqueued.send(type(self), task_result=result)
        return result

    def get_result(self, result_id: str) -> TaskResult:
        """Return what became of a task. Raises TaskResultDoesNotExist, and NotAllowed if the caller may not browse."""
        queue_name, _, number = str(result_id).rpartition(":")
        # A number of up to 18 digits fits the database's.
        if not (number.isascii() and number.isdigit() and len(number) <= 18) or queue_name not in self.queues:
            raise TaskResultDoesNotExist(result_id)
        with raw(self.database) as connection:
            found: Result = Session(connection).result(self.queue_of(queue_name), int(number))
        if found.state == "unknown":
            raise TaskResultDoesNotExist(result_id)
        return results.result_of(self, result_id, found)

    def check(self, **kwargs: Any) -> Iterable[checks.CheckMessage]:
        """Say what is wrong with the settings, for ``manage.py check``."""
        where = f"TASKS[{self.alias!r}]"
        if not self.queues:
            yield checks.Error(
                f"{where} names no QUEUES",
                hint="Name each queue: manage.py howdah migrate creates them, and a worker serves them.",
                id="howdah.E001",
            )
        if unknown := sorted(set(self.options) - OPTIONS):
            yield checks.Error(f"{where} has unknown OPTIONS: {', '.join(unknown)}", id="howdah.E002")
        if self.database not in connections or connections[self.database].vendor != "postgresql":
            yield checks.Error(f"{where} needs PostgreSQL, not database {self.database!r}", id="howdah.E003")
        mine = set(map(self.queue_of, self.queues))
        for other in backends(self.database):
            shared = sorted(mine & set(map(other.queue_of, other.queues)))
            if shared and other.alias < self.alias:
                yield checks.Error(
                    f"{where} has the queue {shared[0]} in common with TASKS[{other.alias!r}]",
                    hint="Give one of them a prefix in its OPTIONS.",
                    id="howdah.E004",
                )


def backends(database: str | None = None) -> list[Backend]:
    """Return the backends of TASKS that are Howdah's, of one database or of all."""
    found = [task_backends[alias] for alias in task_backends]
    return [b for b in found if isinstance(b, Backend) and database in (None, b.database)]


def aware(moment: Any) -> Any:
    """Return a time with its zone; without USE_TZ, times are in Django's."""
    return moment if timezone.is_aware(moment) else timezone.make_aware(moment)


def priority_of(priority: int) -> int | None:
    """Return Howdah's priority, 0 to 9, for Django's, -100 to 100. The usual one is the queue's default."""
    if priority == 0:
        return None
    return 4 + -(-priority // 20) if priority > 0 else 4 + priority // 25
