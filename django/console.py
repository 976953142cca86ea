"""The console beside a Django site, for those of the staff whom Django's log-in knows."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user
from django.db import close_old_connections
from django.shortcuts import resolve_url
from django.urls import (
    NoReverseMatch,
    Resolver404,
    clear_script_prefix,
    get_script_prefix,
    resolve,
    reverse,
    set_script_prefix,
)
from django.utils.crypto import salted_hmac
from django.utils.http import urlencode
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.routing import Mount, Route

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
    role: the database's role in which the staff looks, or a function that returns it for a user. A user for whom it
    returns None is not let in.
    live_role: that of the live figures; None: ``role`` if that is a name.
    options: those of ``howdah.console.app``.

    A user who has not logged in goes to LOGIN_URL, or else to the log-in of Django's admin.
    """

    def log_in(request: Request) -> str | None:
        set_script_prefix(f"{settings.FORCE_SCRIPT_NAME or request.scope.get('app_root_path', '')}/")
        try:
            address = _login_page()
            if address is None or _user(request).is_authenticated:
                return None
        finally:
            clear_script_prefix()
            close_old_connections()
        here = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        return f"{address}?{urlencode({'next': here})}"

    def who(request: Request) -> Person | None:
        try:
            user = _user(request)
            if not (user.is_active and user.is_staff):
                return None
            return Person(user.get_username(), role=role(user) if callable(role) else role)
        finally:
            close_old_connections()

    def with_slash(request: Request) -> RedirectResponse:
        return RedirectResponse(f"{request.url.path}/")

    if live_role is None and isinstance(role, str):
        live_role = role
    options.setdefault("secret", salted_hmac("howdah.django.console", "tokens").hexdigest())
    pages = console(dsn, Host(who, log_in), live_role=live_role, **options)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        # Starlette runs none of what is mounted; the console's ends its connections.
        async with pages.router.lifespan_context(pages):
            yield

    routes = [Route(prefix, with_slash), Mount(prefix, pages), Mount("/", site)]
    return Starlette(routes=routes, lifespan=lifespan)


def _user(request: Request) -> Any:
    """Return the user whom the session's cookie stands for; AnonymousUser if none."""
    store = import_module(settings.SESSION_ENGINE).SessionStore
    return get_user(SimpleNamespace(session=store(request.cookies.get(settings.SESSION_COOKIE_NAME))))


def _login_page() -> str | None:
    """Return the address of the site's log-in. None: it has none of the usual ones."""
    address: str = resolve_url(settings.LOGIN_URL)
    try:
        if address.startswith("/"):
            resolve("/" + address.removeprefix(get_script_prefix()).lstrip("/"))
    except Resolver404:
        try:
            address = reverse("admin:login")
        except NoReverseMatch:
            return None
    return address
