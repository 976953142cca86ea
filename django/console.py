"""The console beside a Django site, for those of the staff whom Django's log-in knows."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user
from django.db import close_old_connections
from django.utils.crypto import salted_hmac
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Mount

from ..console import Host, Person
from ..console import app as console

Role = str | Callable[[Any], str | None]


def beside(
    site: Any,
    dsn: str,
    prefix: str = "/howdah",
    *,
    role: Role = "howdah_browser",
    live_role: str | None = None,
    **options: Any,
) -> Starlette:
    """Return an ASGI application that answers below ``prefix`` with the console, else with Django's.

    dsn: the console's own log-in, which is no superuser and inherits nothing, and is a member of the roles below.
    role: the database's role in which the staff looks, or a function that returns it for a user; None lets the user
    not in. live_role: that of the live figures; None: ``role`` if that is a name. ``options`` are those of
    ``howdah.console.app``.
    """

    def who(request: Request) -> Person | None:
        try:
            user = _user(request)
            if not (user.is_active and user.is_staff):
                return None
            return Person(user.get_username(), role=role(user) if callable(role) else role)
        finally:
            close_old_connections()

    if live_role is None and isinstance(role, str):
        live_role = role
    options.setdefault("secret", salted_hmac("howdah.django.console", "tokens").hexdigest())
    pages = console(dsn, Host(who), live_role=live_role, **options)
    return Starlette(routes=[Mount(prefix, pages), Mount("/", site)])


def _user(request: Request) -> Any:
    """Return the user whom the session's cookie stands for; AnonymousUser if none."""
    store = import_module(settings.SESSION_ENGINE).SessionStore
    return get_user(SimpleNamespace(session=store(request.cookies.get(settings.SESSION_COOKIE_NAME))))
