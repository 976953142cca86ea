"""Run some statements within the project, and print what they leave in ``out`` as JSON."""

import json
import os
import sys

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "shop.settings")
django.setup()

from shop import tasks
from shop.models import Order

from howdah.django import interface


def shown(result):
    """A result as JSON."""
    fields = ("id", "args", "kwargs", "backend", "worker_ids")
    return {
        **{name: getattr(result, name) for name in fields},
        "status": str(result.status),
        "finished": result.finished_at is not None,
        "value": result.return_value if result.status == "SUCCESSFUL" else None,
        "errors": [[error.exception_class_path, error.traceback[-30:]] for error in result.errors],
        "task": [result.task.module_path, result.task.priority, result.task.queue_name],
    }


def work():
    """Run all tasks that are due, by the rules of a worker, in this process."""
    from howdah.django.worker import app
    from howdah.testing import drain

    drain(app, os.environ["HOWDAH_DSN"], delays="leave", check=False)


names = {"os": os, "work": work, "tasks": tasks, "Order": Order, "shown": shown, "interface": interface, "out": None}
exec(sys.argv[1], names)  # noqa: S102, the statements are the test's own
print(json.dumps(names["out"]))
