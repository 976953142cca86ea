"""What is stored of a task, and its result as Django has it."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from django.utils.module_loading import import_string

from ..engine.calls.results import Result
from ..engine.errors import NotAllowed
from .interface import (
    BaseTaskBackend,
    Task,
    TaskError,
    TaskResult,
    TaskResultDoesNotExist,
    TaskResultStatus,
    set_fields,
)

STATUS = {
    "waiting": TaskResultStatus.READY,
    "running": TaskResultStatus.RUNNING,
    "done": TaskResultStatus.SUCCESSFUL,
    "failed": TaskResultStatus.FAILED,
    "expired": TaskResultStatus.FAILED,
}


def body_of(result: TaskResult) -> dict[str, Any]:
    """Return the body of the message that stands for a task."""
    task = result.task
    return {
        "task": task.module_path,
        "args": result.args,
        "kwargs": result.kwargs,
        "priority": task.priority,
        "run_after": None if task.run_after is None else task.run_after.isoformat(),
        "enqueued_at": result.enqueued_at.isoformat(),
    }


def value_of(result: TaskResult, returned: Any) -> dict[str, Any]:
    """Return what is kept of a task that has run: the message is gone, so all that tells of it."""
    return {
        **body_of(result),
        "started_at": result.started_at.isoformat(),
        "worker_ids": result.worker_ids,
        "return_value": returned,
    }


def task_of(backend: BaseTaskBackend, queue_name: str, body: dict[str, Any]) -> Task:
    """Return the task that a body names. Raises ImportError, or TypeError if it is no task."""
    task = import_string(body["task"])
    if not isinstance(task, Task):
        raise TypeError(f"{body['task']} is not a task")
    task = task.using(priority=body["priority"], queue_name=queue_name, backend=backend.alias)
    if body["run_after"] is not None:
        task = task.using(run_after=datetime.fromisoformat(body["run_after"]))
    return task


def new_result(backend: BaseTaskBackend, result_id: str, body: dict[str, Any], **fields: Any) -> TaskResult:
    """Return the result of the task that a body names, READY unless ``fields`` say otherwise."""
    return TaskResult(
        **{
            "task": task_of(backend, result_id.rpartition(":")[0], body),
            "id": result_id,
            "status": TaskResultStatus.READY,
            "enqueued_at": _moment(body["enqueued_at"]),
            "started_at": None,
            "finished_at": None,
            "last_attempted_at": None,
            "args": body["args"],
            "kwargs": body["kwargs"],
            "backend": backend.alias,
            "errors": [],
            "worker_ids": [],
            **fields,
        }
    )


def result_of(backend: BaseTaskBackend, result_id: str, found: Result) -> TaskResult:
    """Return a result as Django has it. Raises NotAllowed if the caller was not shown the message."""
    if found.state == "done":
        body = found.value
        if not isinstance(body, dict) or "return_value" not in body:
            raise TaskResultDoesNotExist(result_id)  # somebody else's handler returned it
    elif found.body is None:
        raise NotAllowed(
            "a task that has not run is shown to those who may browse its queue",
            "Grant howdah_browser to the user of Django's database.",
        )
    else:
        body = json.loads(found.body)
    failures = [_moment(error["at"]) for error in found.errors]
    last = _moment(body.get("started_at")) or (failures[-1] if failures else None)
    result = new_result(
        backend,
        result_id,
        body,
        status=STATUS[found.state],
        started_at=failures[0] if failures else _moment(body.get("started_at")),
        finished_at=found.finished_at,
        last_attempted_at=last,
        errors=[error_of(error) for error in found.errors],
        worker_ids=_workers(found, body.get("worker_ids", [])[-1:]),
    )
    if found.state == "done":
        set_fields(result, _return_value=body["return_value"])
    return result


def _workers(found: Result, last: list[str]) -> list[str]:
    """Return one worker for each attempt, of which those before the last 20 failures are not known by name."""
    known = [error["worker"] or "" for error in found.errors]
    return [""] * (found.failures - len(known)) + known + last


def error_of(error: dict[str, Any]) -> TaskError:
    """Return a recorded failure as Django has it. The traceback's last part tells the module of the exception."""
    name, traceback = error["class"] or "Exception", error["traceback"] or ""
    for line in reversed(traceback.splitlines()):
        path = line.partition(":")[0]
        if path.rpartition(".")[2] == name:
            return TaskError(exception_class_path=path if "." in path else f"builtins.{path}", traceback=traceback)
    return TaskError(exception_class_path=f"builtins.{name}", traceback=traceback)


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
