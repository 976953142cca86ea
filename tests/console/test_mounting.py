"""The console within other applications, under a prefix of theirs, with their own log-in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from console_browser import served
from console_people import as_named
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient
from support import Db, one

from howdah.console import Host, app
from howdah.console.prefix import Prefix


def in_starlette(console: Any) -> Any:
    """Mounted into Starlette."""
    return Starlette(routes=[Mount("/ops/queues", console)])


def in_fastapi(console: Any) -> Any:
    """Mounted into FastAPI."""
    fastapi = pytest.importorskip("fastapi")
    application = fastapi.FastAPI()
    application.mount("/ops/queues", console)
    return application


@pytest.fixture
def django_site(tmp_path: Path) -> Iterator[Any]:
    """Django with its log-in, in a database of its own, and somebody of its staff."""
    django = pytest.importorskip("django")
    from django.conf import settings
    from django.core.management import call_command

    if settings.configured:
        pytest.skip("Django is configured once a process")
    settings.configure(
        ALLOWED_HOSTS=["*"],
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": tmp_path / "django.sqlite"}},
        INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions"],
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
        ],
        ROOT_URLCONF="django_site",
        SECRET_KEY="s",
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    )
    django.setup()
    call_command("migrate", verbosity=0)
    import django_site

    django_site.add("grace", staff=True)
    django_site.add("mallory", staff=False)
    yield django_site
    from django.db import connections

    connections.close_all()


@pytest.mark.slow
def test_beside_django_its_staff_act_under_their_names_and_others_see_nothing(
    login_dsn: str, db: Db, orders: int, django_site: Any
) -> None:
    with TestClient(django_site.application(login_dsn)) as browser:
        assert browser.get("/ops/queues/queues").status_code == 403
        browser.get("/login?name=mallory")
        assert browser.get("/ops/queues/queues").status_code == 403
        assert browser.get("/login?name=grace").text == "welcome, grace"
        page = browser.get("/ops/queues/queues")
        assert page.status_code == 200
        assert "grace" in page.text
        pause(browser)
    changes = db.execute("select actor, reason from howdah.list_changes('queue', 'orders', 1)").fetchall()
    assert changes == [("console_operator", "r (grace)")]


def pause(browser: TestClient) -> None:
    """Pause the queue orders by its form."""
    form = browser.get("/ops/queues/act?act=pause&queue=orders")
    (token,) = re.findall(r'name="token" value="(\w+)"', form.text)
    fields = {"act": "pause", "queue": "orders", "reason": "r", "token": token}
    assert browser.post("/ops/queues/act", data=fields).status_code == 200


@pytest.mark.first_case
@pytest.mark.slow
@pytest.mark.parametrize("mounted", [in_starlette, in_fastapi], ids=["starlette", "fastapi"])
def test_mounted_under_a_prefix_pages_scripts_and_acts_work(login_dsn: str, db: Db, orders: int, mounted: Any) -> None:
    host = mounted(app(login_dsn, Host(as_named), secret="s"))
    with TestClient(host, headers={"x-test-person": "operator"}) as browser:
        page = browser.get("/ops/queues/queue?name=orders")
        assert page.status_code == 200
        links = re.findall(r'(?:src|href|action)="(/[^"]*)"', page.text)
        assert all(link.startswith("/ops/queues/") for link in links)
        for name in ("console.css", "console.js"):
            assert browser.get(f"/ops/queues/static/{name}").status_code == 200
        pause(browser)
        assert browser.get("/elsewhere").status_code == 404
    assert one(db, "select sending_paused from howdah.list_queues() where queue = 'orders'")
    actor, reason = db.execute("select actor, reason from howdah.list_changes('queue', 'orders', 1)").fetchall()[0]
    assert (actor, reason) == ("console_operator", "r (operator@example.org)")


@pytest.mark.first_case
@pytest.mark.parametrize("prefix", ["/ops", "/ops/queues"])
def test_live_figures_stream_from_a_console_under_a_prefix(dsn: str, db: Db, orders: int, prefix: str) -> None:
    one(db, "select howdah.maintain_backlog()")
    with served(Prefix(app(dsn, live_seconds=0.05), prefix)) as address:
        place = re.findall(r'data-live="([^"]+)"', httpx.get(address + prefix).text)
        assert place == [f"{prefix}/live"]
        with httpx.stream("GET", f"{address}{place[0]}?busiest=1") as stream:
            assert next(line for line in stream.iter_lines() if line.startswith("data:")).count("orders") == 1
