"""The backend of Django's Tasks: a task is a message, enqueued in Django's own transaction."""

from __future__ import annotations

from typing import Any

from django.db.transaction import mark_for_rollback_on_error
from django.utils import timezone

from ..engine import Session
from ..engine.calls.call import scalar
from ..engine.calls.results import Result
from ..engine.database.runner import run
from . import results
from .connections import raw
from .interface import BaseTaskBackend, Task, TaskResult, TaskResultDoesNotExist, TaskResultStatus, task_enqueued

PREFIX = "django."


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
        with mark_for_rollback_on_error(using=self.database):
            connection = raw(self.database)
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
        """Return what became of a task. Raises TaskResultDoesNotExist, and NotAllowed for who may not browse."""
        queue_name, _, number = str(result_id).rpartition(":")
        # A number of up to 18 digits fits the database's.
        if not (number.isascii() and number.isdigit() and len(number) <= 18) or queue_name not in self.queues:
            raise TaskResultDoesNotExist(result_id)
        with mark_for_rollback_on_error(using=self.database):
            found: Result = Session(raw(self.database)).result(self.queue_of(queue_name), int(number))
        if found.state == "unknown":
            raise TaskResultDoesNotExist(result_id)
        return results.result_of(self, result_id, found)


def aware(moment: Any) -> Any:
    """Return a time with its zone; without USE_TZ, times are in Django's."""
    return moment if timezone.is_aware(moment) else timezone.make_aware(moment)


def priority_of(priority: int) -> int | None:
    """Return Howdah's priority, 0 to 9, for Django's, -100 to 100. The usual one is the queue's default."""
    if priority == 0:
        return None
    return 4 + -(-priority // 20) if priority > 0 else 4 + priority // 25
