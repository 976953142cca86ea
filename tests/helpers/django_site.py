"""A site of Django with a log-in, and the console beside it as docs/console-users.md says."""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace
from typing import Any

from django.conf import settings
from django.contrib.auth import authenticate, get_user, get_user_model, login
from django.core.asgi import get_asgi_application
from django.db import close_old_connections
from django.http import HttpRequest, HttpResponse
from django.urls import path
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Mount

from howdah.console import Host, Person, app

PASSWORD = "admiral"


def add(name: str, *, staff: bool) -> None:
    """Add a user."""
    get_user_model().objects.create_user(name, password=PASSWORD, is_staff=staff)


def enter(request: HttpRequest) -> HttpResponse:
    """Log a user in."""
    user = authenticate(request, username=request.GET["name"], password=PASSWORD)
    login(request, user)
    return HttpResponse(f"welcome, {user.get_username()}")


urlpatterns = [path("login", enter)]


def who(request: Request) -> Person | None:
    """The user whom Django's session names; nobody unless they are of the staff."""
    store = import_module(settings.SESSION_ENGINE).SessionStore
    try:
        user: Any = get_user(SimpleNamespace(session=store(request.cookies.get(settings.SESSION_COOKIE_NAME))))
        return Person(user.get_username(), role="console_operator") if user.is_staff else None
    finally:
        close_old_connections()


def application(dsn: str) -> Starlette:
    """Both in one server."""
    console = app(dsn, Host(who), live_role="console_browser")
    return Starlette(routes=[Mount("/ops/queues", console), Mount("/", get_asgi_application())])
