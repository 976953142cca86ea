"""Django's connection to the database, and that of a worker's transaction in its place."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from django.core.exceptions import ImproperlyConfigured
from django.db import connections
from django.db.transaction import Atomic, TransactionManagementError, mark_for_rollback_on_error
from psycopg.conninfo import make_conninfo

from ..workers.guard import GuardedCursor

log = logging.getLogger("howdah.django")


def dsn_of(alias: str) -> str:
    """Return the DSN of one of Django's databases."""
    wrapper = connections[alias]
    if wrapper.vendor != "postgresql":
        raise ImproperlyConfigured(f"database {alias!r} is not PostgreSQL")
    known = {option.keyword.decode() for option in psycopg.pq.Conninfo.get_defaults()}
    given = wrapper.get_connection_params()
    return make_conninfo(**{key: value for key, value in given.items() if key in known and value is not None})


@contextmanager
def raw(alias: str) -> Iterator[psycopg.Connection[Any]]:
    """Yield psycopg's connection beneath Django's, in whatever transaction Django has on it.

    As for Django's own statements, an error marks the atomic block, and a connection that was lost is replaced.
    """
    wrapper = connections[alias]
    with mark_for_rollback_on_error(using=alias):
        wrapper.close_if_health_check_failed()
        wrapper.ensure_connection()
        connection = wrapper.connection
        connection = getattr(connection, "borrowed", connection)
        if not isinstance(connection, psycopg.Connection):
            raise ImproperlyConfigured(f"database {alias!r} has to be PostgreSQL with psycopg 3")
        try:
            yield connection
        finally:
            if connection.closed:
                wrapper.errors_occurred = True  # else Django would keep the connection for the next requests


class Borrowed:
    """A worker's connection as Django expects one: its own cursors and types, and no end of the transaction."""

    def __init__(self, connection: psycopg.Connection[Any], wrapper: Any) -> None:
        parameters = wrapper.get_connection_params()
        self.borrowed = connection
        self.adapters = parameters["context"].adapters
        self.autocommit = False
        self._cursor_class = _cursor_class(parameters["cursor_factory"], self.adapters)

    def cursor(self, name: str | None = None, **options: Any) -> Any:
        """Return a cursor. A named one is an ordinary one: the rows of a task's query are fetched at once."""
        return self._cursor_class(self.borrowed)

    def commit(self) -> None:
        """Do nothing: the worker commits once the task has returned."""

    def rollback(self) -> None:
        """Roll back, which fails the message."""
        self.borrowed.rollback()

    def close(self) -> None:
        """Do nothing: it is the worker's."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.borrowed, name)


def _cursor_class(base: Any, adapters: Any) -> Any:
    """Return Django's class of cursors, which cannot commit, with Django's types on a connection that has others."""

    class Cursor(base, GuardedCursor):  # type: ignore[misc]
        _types: Any = None

        @property
        def adapters(self) -> Any:
            if self._types is None:  # of its own: Django sets a cursor's time zone
                self._types = psycopg.adapt.AdaptersMap(adapters)
            return self._types

    return Cursor


@contextmanager
def lent(alias: str, connection: psycopg.Connection[Any]) -> Iterator[None]:
    """Let this thread's Django connection be the worker's, within an atomic block that Django does not end.

    What the task writes then commits with the message's consumption and its result. ``atomic()`` makes savepoints.
    Functions given to ``on_commit`` run at the end of the block, just before the worker commits.
    """
    wrapper = connections[alias]
    inside = {
        "connection": Borrowed(connection, wrapper),
        "in_atomic_block": True,
        "autocommit": False,
        "commit_on_exit": True,  # else the end of an inner block would be taken for that of this one
        "needs_rollback": False,
        "savepoint_ids": [],
        # A durable block is refused, as inside any other.
        "atomic_blocks": [Atomic(alias, savepoint=True, durable=False)],
        "closed_in_transaction": False,
        "run_on_commit": [],
        "rollback_exc": None,
        # The connection's health and age are the worker's business.
        "health_check_done": True,
        "close_at": None,
    }
    outside = {name: getattr(wrapper, name) for name in inside}
    for name, value in inside.items():
        setattr(wrapper, name, value)
    role = wrapper.settings_dict["OPTIONS"].get("assume_role")
    try:
        _prepare(wrapper, connection, role)
        yield
        if wrapper.needs_rollback:
            raise TransactionManagementError("a statement failed in an atomic block, and the task went on")
        while wrapper.run_on_commit:
            _, function, robust = wrapper.run_on_commit.pop(0)
            try:
                function()
            except Exception:
                if not robust:
                    raise
                log.exception("a function given to on_commit failed")
        if role is not None:
            connection.execute("reset role")  # the result is kept by the worker's own
    finally:
        for name, value in outside.items():
            setattr(wrapper, name, value)


def _prepare(wrapper: Any, connection: psycopg.Connection[Any], role: str | None) -> None:
    """Give the worker's connection the settings of Django's: without USE_TZ, times are those of the session's zone."""
    zone = wrapper.timezone_name
    if zone and connection.info.parameter_status("TimeZone") != zone:
        connection.execute("select set_config('TimeZone', %s, false)", (zone,))
    if role is not None:
        connection.execute("select set_config('role', %s, true)", (role,))
