"""Tasks of Django on Howdah: enqueued in the caller's transaction, run in the message's, their results kept."""

from __future__ import annotations

import json

import pytest
from django_project import Site
from psycopg.conninfo import make_conninfo
from support import Clock, Db, column, one

ORDER = "order = Order.objects.create(item='mocha')\n"


def test_enqueue_joins_the_atomic_block_and_rolls_back_with_it(site: Site, db: Db) -> None:
    before, after = site.run(
        "from django.db import transaction\n"
        "numbers = []\n"
        "for fail in (True, False):\n"
        "    try:\n"
        "        with transaction.atomic():\n"
        "            order = Order.objects.create(item='mocha')\n"
        "            numbers.append(tasks.brew.enqueue(order.pk).id)\n"
        "            if fail: raise RuntimeError\n"
        "    except RuntimeError:\n"
        "        pass\n"
        "def look(number):\n"
        "    try: return shown(tasks.brew.get_result(number))\n"
        "    except interface.TaskResultDoesNotExist: return {'status': None, 'value': Order.objects.count()}\n"
        "out = [[look(number) for number in numbers]]\n"
        "work()\n"
        "out.append([look(number) for number in numbers])\n"
    )
    assert [found["status"] for found in before] == [None, "READY"]
    assert [found["status"] for found in after] == [None, "SUCCESSFUL"]
    assert (before[0]["value"], after[1]["value"]) == (1, {"item": "mocha", "milk": False, "aware": True})
    assert column(db, "select state from shop_order") == ["brewed"]


def test_a_result_tells_all_of_its_task_before_and_after(site: Site, db: Db) -> None:
    enqueued, before, after, refreshed = site.run(
        "import asyncio\n" + ORDER + "enqueued = tasks.brew.using(priority=50).enqueue(order.pk, milk=True)\n"
        "out = [shown(enqueued), shown(tasks.brew.get_result(enqueued.id))]\n"
        "work()\n"
        "out.append(shown(asyncio.run(tasks.brew.aget_result(enqueued.id))))\n"
        "enqueued.refresh()\n"
        "out.append(shown(enqueued))\n"
    )
    assert before == enqueued
    assert enqueued["task"] == ["shop.tasks.brew", 50, "default"]
    assert (enqueued["status"], enqueued["args"], enqueued["kwargs"]) == ("READY", [1], {"milk": True})
    assert (after["status"], after["finished"], after["value"]["milk"]) == ("SUCCESSFUL", True, True)
    assert len(after["worker_ids"]) == 1
    assert {**after, "status": "READY", "finished": False, "value": None, "worker_ids": []} == before
    assert refreshed == after


def test_a_task_that_fails_leaves_nothing_and_has_its_errors_on_record(site: Site, db: Db) -> None:
    found = site.run(
        ORDER + "number = tasks.spill.enqueue(order.pk).id\nwork()\nout = shown(tasks.spill.get_result(number))"
    )
    assert (found["status"], found["value"], len(found["errors"]), len(found["worker_ids"])) == ("FAILED", None, 2, 2)
    assert found["errors"][0][0] == "builtins.ValueError"
    assert found["errors"][0][1].strip().endswith("the cup was full")
    assert column(db, "select state from shop_order") == ["new"]


def test_async_tasks_and_those_with_a_context_run(site: Site) -> None:
    number, first, second = site.run(
        "import asyncio\n"
        "async def both(): return [await tasks.write.aenqueue('tom'), await tasks.tell.aenqueue()]\n"
        "both = asyncio.run(both())\n"
        "work()\n"
        "for result in both: result.refresh()\n"
        "out = [both[1].id, *[result.return_value for result in both]]"
    )
    assert (first, second) == (["tom", 1], ["RUNNING", 1, number])


def test_a_higher_priority_runs_first(site: Site, db: Db) -> None:
    asked = [-100, -26, -25, -1, 0, 1, 20, 21, 100]
    priorities = site.run(
        f"for p in {asked}: tasks.note.using(priority=p).enqueue(str(p))\n"
        "from django.db import connection\n"
        "with connection.cursor() as c:\n"
        "    out = [row[0] for row in c.execute('select 9 - rank from howdah.msgs order by seq')]\n"
        "work()"
    )
    assert priorities == [0, 2, 3, 3, 4, 5, 5, 6, 9]
    ran = [int(item) for item in column(db, "select item from shop_order order by id")]
    assert ran == [100, 21, 1, 20, 0, -25, -1, -26, -100]


@pytest.mark.slow
def test_a_task_does_not_run_before_its_time(site: Site, db: Db, clock: Clock) -> None:
    late = "from datetime import timedelta\nfrom django.db import connection\n" + (
        "with connection.cursor() as c: now = c.execute('select howdah.now()').fetchone()[0]\n"
        "number = tasks.note.using(run_after=now + timedelta(hours=1)).enqueue('late').id\n"
    )
    looked = "work()\nout = [number, shown(tasks.note.get_result(number))['status'], Order.objects.count()]"
    number, *found = site.run(late + looked)
    assert found == ["READY", 0]
    clock.advance(3595)
    assert site.run(f"number = {number!r}\n{looked}")[1:] == ["READY", 0]
    clock.advance(10)
    assert site.run(f"number = {number!r}\n{looked}")[1:] == ["SUCCESSFUL", 1]


def test_a_task_is_inside_the_transaction_that_consumes_it(site: Site, db: Db) -> None:
    """Savepoints, tasks that it enqueues, on_commit."""
    found = site.run(
        ORDER + "result = tasks.nested.enqueue(order.pk)\nwork()\nresult.refresh()\nout = result.return_value"
    )
    assert found == "mocha"
    assert column(db, "select item || ' ' || state from shop_order order by id") == ["mocha brewed", "after new"]


def test_a_task_cannot_end_the_transaction_nor_return_what_is_not_json(site: Site, db: Db) -> None:
    found = site.run(
        ORDER + "results = [tasks.cheat.enqueue(1), tasks.durable.enqueue(), tasks.unjson.enqueue()]\n"
        "work()\n"
        "for result in results: result.refresh()\n"
        "out = [[shown(result)['status'], shown(result)['errors'][0][0].rpartition('.')[2]] for result in results]"
    )
    assert found == [["FAILED", error] for error in ("IllegalState", "RuntimeError", "TypeError")]
    assert column(db, "select state from shop_order") == ["new"]


def test_unknown_results_do_not_exist_and_other_tasks_do_not_match(site: Site) -> None:
    number = site.run("out = tasks.note.enqueue('a').id")
    tried = (
        "out = []\n"
        f"for wrong in ('default:1000001', 'other:1', 'x', 'default:', '', 'default:' + 30 * '9', {number!r}):\n"
        "    try: tasks.tell.get_result(wrong)\n"
        "    except Exception as e: out.append(type(e).__name__)\n"
    )
    assert site.run(tried) == 6 * ["TaskResultDoesNotExist"] + ["TaskResultMismatch"]


@pytest.mark.slow
def test_manage_py_migrates_works_and_reads(site: Site, db: Db) -> None:
    db.execute("select howdah.drop_queue('django.mail')")
    assert site.manage("howdah", "migrate").stdout.splitlines()[-1] == "created the queue django.mail"
    assert one(db, "select keep_results_ms from howdah.destinations where name = 'django.mail' and dropped_at is null")
    db.execute("insert into shop_order (item, state, extra) values ('mocha', 'new', '{}')")
    body = '{"task": "shop.tasks.brew", "args": [1], "kwargs": {}, "priority": 0, "run_after": null, "enqueued_at": %s}'
    one(db, "select howdah.send('django.mail', %s::jsonb)", (body.replace("%s", '"2026-01-01T00:00:00+00:00"'),))
    site.manage("howdah", "worker", "--until-empty", "--sessions", "1")
    assert column(db, "select state from shop_order") == ["brewed"]
    failed = site.manage("howdah", "queue", "show", "none", check=False)
    assert failed.returncode != 0
    assert "there is no queue 'none'" in failed.stderr
    assert "Traceback" not in failed.stderr


@pytest.mark.slow
def test_the_staff_sees_the_console(site: Site, db: Db) -> None:
    """Who has not logged in goes to the log-in, others are refused; after the log-out nobody sees it."""
    db.execute("drop role if exists django_console_login")
    db.execute("create role django_console_login login noinherit password 'c'")
    db.execute("grant howdah_browser to django_console_login")
    site.manage("migrate")
    site.more["SHOP_SETTINGS"] = json.dumps({"LOGIN_URL": "login"})
    login = make_conninfo(site.dsn, user="django_console_login", password="c")
    found = site.run(
        f"os.environ['CONSOLE_DSN'] = {login!r}\n"
        "from django.contrib.auth import get_user_model\n"
        "from starlette.testclient import TestClient\n"
        "from shop.asgi import application\n"
        "for name in ('ann', 'tom'):\n"
        "    get_user_model().objects.create_user(name, password='admiral', is_staff=name == 'ann')\n"
        "out, html = [], {'accept': 'text/html'}\n"
        "for name, root in ((None, ''), (None, '/site'), ('tom', ''), ('ann', '')):\n"
        "    with TestClient(application, root_path=root, follow_redirects=False) as client:\n"
        "        if name: assert client.get(f'/login?name={name}').text == 'welcome'\n"
        "        page = client.get(root + '/queues/queues?n=1', headers=html)\n"
        "        out.append([page.status_code, 'django.mail' in page.text, page.headers.get('location')])\n"
        "out.append(client.get('/queues').headers['location'])\n"
        "out.append(client.post('/queues/act', data={'act': 'send'}, headers=html).status_code)\n"
        "assert client.get('/logout').text == 'bye'\n"
        "out += [client.get('/queues/queues', headers=headers).status_code for headers in (html, {})]\n"
    )
    assert found == [
        [303, False, "/login?next=%2Fqueues%2Fqueues%3Fn%3D1"],
        [303, False, "/site/login?next=%2Fsite%2Fqueues%2Fqueues%3Fn%3D1"],
        [403, False, None],
        [200, True, None],
        "/queues/",
        403,
        303,
        403,
    ]


def test_a_task_that_breaks_its_queues_contract_is_not_enqueued(site: Site, db: Db) -> None:
    """The caller gets the error, and its transaction can go on from a savepoint."""
    contract = '{"properties": {"kwargs": {"required": ["milk"]}}, "required": ["kwargs"]}'
    db.execute("select howdah.alter_queue('django.default', jsonb_build_object('contract', %s::jsonb))", (contract,))
    error, orders = site.run(
        "from django.db import transaction\n"
        "from howdah.engine.errors import ContractViolated\n"
        "with transaction.atomic():\n"
        "    order = Order.objects.create(item='mocha')\n"
        "    tasks.brew.enqueue(order.pk, milk=True)\n"
        "    try:\n"
        "        with transaction.atomic(): tasks.brew.enqueue(order.pk)\n"
        "    except ContractViolated as error:\n"
        "        out = [str(error)]\n"
        "out.append(Order.objects.count())\n"
    )
    assert ("lacks the member" in error, orders) == (True, 1)
    assert one(db, "select live from howdah.queue_stats('django.default')") == 1
