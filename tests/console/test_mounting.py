"""The console within other applications, under a prefix of theirs, with their own log-in."""

from __future__ import annotations

import re
from typing import Any

import pytest
from console_people import as_named
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient
from support import Db, one

from howdah.console import Host, app


def in_starlette(console: Any) -> Any:
    """Mounted into Starlette."""
    return Starlette(routes=[Mount("/ops/queues", console)])


def in_fastapi(console: Any) -> Any:
    """Mounted into FastAPI."""
    fastapi = pytest.importorskip("fastapi")
    application = fastapi.FastAPI()
    application.mount("/ops/queues", console)
    return application


def in_django(console: Any) -> Any:
    """Beside Django's views, by a router in front of Django's ASGI."""
    django = pytest.importorskip("django")
    from django.conf import settings
    from django.core.asgi import get_asgi_application

    if not settings.configured:
        settings.configure(ALLOWED_HOSTS=["*"], SECRET_KEY="s", ROOT_URLCONF="django_urls")
    django.setup()
    return Starlette(routes=[Mount("/ops/queues", console), Mount("/", get_asgi_application())])


@pytest.mark.parametrize("mounted", [in_starlette, in_fastapi, in_django], ids=["starlette", "fastapi", "django"])
def test_mounted_under_a_prefix_pages_scripts_and_acts_work(login_dsn: str, db: Db, orders: int, mounted: Any) -> None:
    host = mounted(app(login_dsn, Host(as_named), secret="s"))
    with TestClient(host, headers={"x-test-person": "operator"}) as browser:
        page = browser.get("/ops/queues/queue?name=orders")
        assert page.status_code == 200
        links = re.findall(r'(?:src|href|action)="(/[^"]*)"', page.text)
        assert all(link.startswith("/ops/queues/") for link in links)
        for name in ("console.css", "console.js"):
            assert browser.get(f"/ops/queues/static/{name}").status_code == 200
        form = browser.get("/ops/queues/act?act=pause&queue=orders")
        (token,) = re.findall(r'name="token" value="(\w+)"', form.text)
        fields = {"act": "pause", "queue": "orders", "reason": "r", "token": token}
        assert browser.post("/ops/queues/act", data=fields).status_code == 200
        assert browser.get("/elsewhere").status_code == 404
    assert one(db, "select sending_paused from howdah.list_queues() where queue = 'orders'")
    actor, reason = db.execute("select actor, reason from howdah.list_changes('queue', 'orders', 1)").fetchall()[0]
    assert (actor, reason) == ("console_operator", "r (operator@example.org)")
