"""The application that ``manage.py howdah worker`` runs: a handler for each queue of Howdah's backends."""

from __future__ import annotations

import os
from collections.abc import Callable
from traceback import format_exception
from typing import Any

import django
from django.apps import apps
from django.db import close_old_connections
from django.utils import timezone

from ..workers import App, Message, Transaction
from . import results
from .backend import DATABASE, Backend, backends
from .connections import lent
from .interface import (
    TaskContext,
    TaskError,
    TaskResult,
    TaskResultStatus,
    normalize_json,
    set_fields,
    task_finished,
    task_started,
)


def make_app(database: str | None = None) -> App:
    """Return an application that runs the tasks of all backends, or of those of one database."""
    made = App("django")
    for backend in backends(database):
        for queue_name in sorted(backend.queues):
            made.handler(backend.queue_of(queue_name))(_runner(backend, queue_name))
    return made


def _runner(backend: Backend, queue_name: str) -> Callable[[Message, Transaction], dict[str, Any]]:
    """Return the handler of a queue. What it returns is kept as the task's result."""

    def run_task(message: Message, transaction: Transaction) -> dict[str, Any]:
        close_old_connections()  # those to other databases, which may have been idle for hours
        now = timezone.now()
        with lent(backend.database, transaction.connection):
            result = results.new_result(
                backend,
                f"{queue_name}:{message.message_id}",
                message.data,
                status=TaskResultStatus.RUNNING,
                started_at=now,
                last_attempted_at=now,
                # One for each attempt: only the number of the earlier ones is known here.
                worker_ids=[transaction.worker] * message.delivery_count,
            )
            task_started.send(sender=type(backend), task_result=result)
            returned = _call(backend, result)
        return results.value_of(result, returned)

    return run_task


def _call(backend: Backend, result: TaskResult) -> Any:
    """Run the task. Its error goes on to the worker, which rolls back and applies the queue's policy."""
    context = (TaskContext(task_result=result),) if result.task.takes_context else ()
    try:
        returned = normalize_json(result.task.call(*context, *result.args, **result.kwargs))
    except Exception as error:
        kind = type(error)
        result.errors.append(
            TaskError(
                exception_class_path=f"{kind.__module__}.{kind.__qualname__}",
                traceback="".join(format_exception(error)),
            )
        )
        set_fields(result, status=TaskResultStatus.FAILED, finished_at=timezone.now())
        task_finished.send(sender=type(backend), task_result=result)
        raise
    set_fields(result, status=TaskResultStatus.SUCCESSFUL, finished_at=timezone.now(), _return_value=returned)
    task_finished.send(sender=type(backend), task_result=result)
    return returned


if not apps.ready:  # in a worker's process; DJANGO_SETTINGS_MODULE comes from manage.py
    django.setup()


def __getattr__(name: str) -> Any:
    """Make ``app`` on demand: a user of ``make_app`` for one database may have others with equal queues."""
    if name == "app":
        return globals().setdefault(name, make_app(os.environ.get(DATABASE)))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
