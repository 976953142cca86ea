"""Finds and connects to the engine that a link leads to. Nothing that is secret gets into an error's text."""

from __future__ import annotations

import os
import socket
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo

from ...engine.calls.links import Taken
from ...engine.errors import CannotConnect
from ...text.dsn import BadDsnError
from ...text.passfile import accessible

DEFAULTS = {
    "connect_timeout": "10",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",
}
"""A server that no longer answers is away within half a minute."""

OPTIONS = {
    "keepalives_idle": (socket.IPPROTO_TCP, "TCP_KEEPIDLE"),
    "keepalives_interval": (socket.IPPROTO_TCP, "TCP_KEEPINTVL"),
    "keepalives_count": (socket.IPPROTO_TCP, "TCP_KEEPCNT"),
    "tcp_user_timeout": (socket.IPPROTO_TCP, "TCP_USER_TIMEOUT"),
}


def in_order(connection: psycopg.Connection[Any]) -> psycopg.Connection[Any]:
    """Have its transactions be READ COMMITTED, whatever the database's default: receipts need the latest."""
    connection.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
    return connection


def connect(link: str, taken: Taken) -> psycopg.Connection[Any]:
    """Connect to the target, in autocommit. Raises CannotConnect."""
    try:
        if taken.service is not None:
            where, conninfo = f"service {taken.service}", make_conninfo("", service=taken.service)
        else:
            name = taken.dsn_env or ""
            where = f"variable {name}"
            if not os.environ.get(name):
                raise CannotConnect(f"{where} of link {link} is not set", "Set it where the forwarder runs.")
            conninfo = accessible(os.environ[name])
        given = {"application_name": f"howdah link {link}"[:63]}
        if taken.service is None:
            given |= DEFAULTS
        connection = psycopg.connect(make_conninfo(conninfo, **given), autocommit=True)
        if taken.service is not None:
            _keep_alive(connection)
        return in_order(connection)
    except BadDsnError as error:
        raise CannotConnect(f"{where} of link {link}: {error}") from None
    except psycopg.Error as error:
        raise CannotConnect(f"{where} of link {link}: {str(error).strip()}") from error


def _keep_alive(connection: psycopg.Connection[Any]) -> None:
    """Set what the service does not set. Parameters of the connection would override the service's own."""
    said = {option.keyword.decode() for option in connection.pgconn.info if option.val}
    with socket.socket(fileno=os.dup(connection.fileno())) as sock:
        if sock.family not in (socket.AF_INET, socket.AF_INET6) or "keepalives" in said:
            return
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, (level, option) in OPTIONS.items():
            if name not in said and hasattr(socket, option):
                sock.setsockopt(level, getattr(socket, option), int(DEFAULTS[name]))
