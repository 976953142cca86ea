"""What Django asks of each backend of Tasks, as the tests of its own backends do."""

from __future__ import annotations

from django_project import Site

TRY = (
    "import asyncio\n"
    "from datetime import datetime, timedelta\n"
    "from django.utils import timezone\n"
    "out = []\n"
    "def tried(call):\n"
    "    try: out.append(call() in (True, 1) or 'accepted')\n"
    "    except Exception as error: out.append(type(error).__name__.removesuffix('Error'))\n"
    "def local():\n"
    "    def inner(): pass\n"
    "    return inner\n"
    "make = interface.Task\n"
    "backend = interface.task_backends['default']\n"
)


def test_what_it_supports_and_refuses(site: Site) -> None:
    """A refusal leaves no message."""
    found = site.run(
        TRY + "for flag in ('defer', 'async_task', 'get_result', 'priority'):\n"
        "    tried(lambda: getattr(backend, f'supports_{flag}'))\n"
        "tried(lambda: tasks.note.using(queue_name='nowhere'))\n"
        "for priority in (-101, 101, 1.5): tried(lambda: tasks.note.using(priority=priority))\n"
        "tried(lambda: tasks.note.using(run_after=datetime(2026, 1, 1)))\n"
        "tried(lambda: make(func=local()))\n"
        "tried(lambda: tasks.task(local()))\n"
        "tried(lambda: make(func=tasks.note.func, takes_context=True))\n"
        "for argument in (object(), b'\\xff', {1, 2}, timezone.now()): tried(lambda: tasks.note.enqueue(argument))\n"
        "tried(lambda: tasks.note.enqueue('a\\0b'))\n"
        "from django.db import connection\n"
        "with connection.cursor() as c: out.append(c.execute('select count(*) from howdah.msgs').fetchone()[0])\n"
    )
    assert found[:4] == 4 * [True]
    assert found[4:12] == ["InvalidTask"] * 8
    assert found[12:16] == ["Type", "Value", "Type", "Type"]
    assert found[16:] == ["BadArgument", 0]


def test_a_result_equals_what_is_got_by_its_id(site: Site) -> None:
    """Also with tuples, bytes and run_after, by asyncio, and after a refresh."""
    found = site.run(
        TRY + "later = timezone.now() + timedelta(days=1)\n"
        "enqueued = [\n"
        "    tasks.brew.enqueue(1, milk=(1, b'two')),\n"
        "    tasks.note.using(run_after=later, priority=-7).enqueue('x'),\n"
        "    asyncio.run(tasks.write.aenqueue(to='tom')),\n"
        "]\n"
        "for result in enqueued:\n"
        "    out.append(result == backend.get_result(result.id))\n"
        "    out.append(result == asyncio.run(result.task.aget_result(result.id)))\n"
        "out.append(enqueued[0].kwargs)\n"
        "work()\n"
        "for result in enqueued:\n"
        "    asyncio.run(result.arefresh())\n"
        "    same = result == backend.get_result(result.id)\n"
        "    out.append([result.status, result.is_finished, result.attempts, same])\n"
        "tried(lambda: enqueued[1].return_value)\n"
        "tried(lambda: enqueued[0].return_value)\n"
        "out.append(enqueued[0].errors[0].exception_class_path)\n"
        "out.append(enqueued[2].started_at == enqueued[2].last_attempted_at <= enqueued[2].finished_at)\n"
    )
    assert found[:7] == [*6 * [True], {"milk": [1, "two"]}]
    assert found[7:10] == [["FAILED", True, 2, True], ["READY", False, 0, True], ["SUCCESSFUL", True, 1, True]]
    assert found[10:] == ["Value", "Value", "shop.models.Order.DoesNotExist", True]


def test_signals_are_sent_and_what_they_log(site: Site) -> None:
    """Each attempt that fails has its signals, and the log of django.tasks its lines."""
    found = site.run(
        TRY + "import logging\n"
        "class Lines(logging.Handler):\n"
        "    def emit(self, record):\n"
        "        out.append([record.levelname, record.getMessage().split()[-1].partition('=')[2]])\n"
        "for name in ('django.tasks', 'django_tasks'):\n"
        "    logging.getLogger(name).addHandler(Lines())\n"
        "    logging.getLogger(name).setLevel('DEBUG')\n"
        "def told(sender, task_result, **more):\n"
        "    out.append([sender.__name__, task_result.status, len(task_result.errors), bool(task_result.id)])\n"
        "for signal in ('enqueued', 'started', 'finished'): getattr(interface, f'task_{signal}').connect(told)\n"
        "tasks.stumble.enqueue()\n"
        "work()\n"
    )
    assert [line for line in found if len(line) == 4] == [
        ["Backend", "READY", 0, True],
        ["Backend", "RUNNING", 0, True],
        ["Backend", "FAILED", 1, True],
        ["Backend", "RUNNING", 0, True],
        ["Backend", "SUCCESSFUL", 0, True],
    ]
    assert [line for line in found if len(line) == 2] == [
        ["DEBUG", "default"],
        ["INFO", "RUNNING"],
        ["ERROR", "FAILED"],
        ["INFO", "RUNNING"],
        ["INFO", "SUCCESSFUL"],
    ]
