"""Django's settings hold for tasks too: lost connections, time zones, roles, several databases; and wrong ones."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django_project import Site
from support import Db, column

LOSE = (
    "import psycopg\n"
    "from django.core.signals import request_finished, request_started\n"
    "from django.db import connection\n"
    "first = tasks.note.enqueue('first').id\n"
    "with psycopg.connect(os.environ['HOWDAH_DSN'], autocommit=True) as other:\n"
    "    other.execute('select pg_terminate_backend(%s, 10000)', (connection.connection.info.backend_pid,))\n"
    "out = []\n"
    "for call in 3 * [lambda: tasks.note.get_result(first)]:\n"
    "    request_started.send(None)\n"
    "    try: out.append(call().status)\n"
    "    except Exception as error: out.append(type(error).__name__)\n"
    "    request_finished.send(None)\n"
)


def backend(**options: Any) -> dict[str, Any]:
    return {"BACKEND": "howdah.django.Backend", "QUEUES": ["default", "mail"], "OPTIONS": options}


@pytest.mark.parametrize(("checks", "expected"), [(False, ["ConnectionLost", "READY"]), (True, ["READY", "READY"])])
def test_a_lost_connection_is_replaced_by_the_next_request(site: Site, checks: bool, expected: list[str]) -> None:
    """A process that does nothing but enqueue would otherwise fail forever."""
    site.more["SHOP_DATABASE"] = json.dumps({"CONN_MAX_AGE": None, "CONN_HEALTH_CHECKS": checks})
    assert site.run(LOSE)[:2] == expected


def test_times_without_zones_are_those_of_djangos_zone_in_a_worker_too(site: Site) -> None:
    site.more["SHOP_SETTINGS"] = json.dumps({"USE_TZ": False, "TIME_ZONE": "Asia/Tokyo"})
    looked = site.run(
        "task = tasks.look.enqueue()\nwork()\ntask.refresh()\nout = [task.return_value, tasks.look.call()]"
    )
    assert looked == 2 * [["postgres", True, 9]]


def test_a_task_has_the_role_that_django_assumes_and_its_result_is_kept(site: Site, db: Db) -> None:
    db.execute("grant usage on schema public to howdah_browser")
    site.more["SHOP_DATABASE"] = json.dumps({"OPTIONS": {"assume_role": "howdah_producer"}})
    number = site.run("out = tasks.look.enqueue().id\nwork()")
    site.more.clear()
    assert site.run(f"out = tasks.look.get_result({number!r}).return_value") == ["howdah_producer", False, 0]


def test_an_attempt_that_failed_is_told_with_the_success_after_it(site: Site) -> None:
    found = site.run(
        "task = tasks.stumble.enqueue()\nwork()\ntask.refresh()\n"
        "out = [shown(task), task.attempts, task.started_at < task.last_attempted_at < task.finished_at]"
    )
    assert (found[0]["status"], found[0]["value"]) == ("SUCCESSFUL", 2)
    assert found[0]["errors"][0][0] == "builtins.LookupError"
    assert (len(found[0]["worker_ids"]), found[1:]) == (2, [2, True])


TWO = json.dumps({"TASKS": {"default": backend(), "other": {**backend(database="other"), "QUEUES": ["default"]}}})


def test_an_application_is_made_for_one_database(site: Site) -> None:
    site.more["SHOP_SETTINGS"] = TWO
    made = (
        "from howdah.django.worker import make_app\nout = [sorted(make_app(a).bindings) for a in ('default', 'other')]"
    )
    assert site.run(made) == [["django.default", "django.mail"], ["django.default"]]


@pytest.mark.slow
def test_a_worker_serves_the_tasks_of_its_database_alone(site: Site, db: Db) -> None:
    """The other database has no Howdah at all."""
    site.more["SHOP_SETTINGS"] = TWO
    site.run("tasks.note.enqueue('a')")
    site.manage("howdah", "worker", "--until-empty", "--sessions", "1")
    assert column(db, "select item from shop_order") == ["a"]


def test_check_says_what_is_wrong_with_the_settings(site: Site) -> None:
    wrong = {
        "default": backend(),
        "empty": {**backend(), "QUEUES": []},
        "misspelt": {**backend(prefx="x."), "QUEUES": ["own"]},
        "nowhere": backend(database="nowhere"),
        "same": backend(),
    }
    site.more["SHOP_SETTINGS"] = json.dumps({"TASKS": wrong})
    for words in (("check",), ("howdah", "worker"), ("howdah", "migrate")):
        said = site.manage(*words, check=False)
        assert said.returncode == 1
        found = [line.split(") ")[1] for line in said.stderr.splitlines() if "(howdah.E" in line]
        assert found == [
            "TASKS['empty'] names no QUEUES",
            "TASKS['misspelt'] has unknown OPTIONS: prefx",
            "TASKS['nowhere'] needs PostgreSQL, not database 'nowhere'",
            "TASKS['same'] has the queue django.default in common with TASKS['default']",
        ]
