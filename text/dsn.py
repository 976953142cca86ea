"""Connection strings are read here and nowhere else. A DSN that cannot be read is refused without being shown.

libpq quotes what it does not understand, and that may be the password.
"""

from __future__ import annotations

import ipaddress
import re
from contextlib import suppress
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

# SQLAlchemy names the driver in the scheme.
_WITH_DRIVER = re.compile(r"\Apostgres(ql)?\+\w+://")
_URL = re.compile(r"\Apostgres(ql)?://")
_BAD_PERCENT = re.compile("%(?![0-9A-Fa-f]{2})")
_PORTS = re.compile(r"[0-9, ]*")

FORMS = "Write postgresql://user:password@host/database or host=… user=… password=… dbname=…"
ENCODE = "In a URL's user and password write %25 for %, %40 for @, %2F for /, %3A for :, %20 for a space."


class BadDsnError(ValueError):
    """A connection string that cannot be read. The message says why, and never quotes it."""


def canonical(dsn: str, **settings: Any) -> str:
    """Return the DSN as libpq's key=value pairs, with more settings. Takes SQLAlchemy URLs too. Raises BadDsnError."""
    return make_conninfo("", **(read(dsn) | settings))


def read(dsn: str) -> dict[str, Any]:
    """Return the settings that a DSN names. Raises BadDsnError."""
    text = _WITH_DRIVER.sub("postgresql://", dsn)
    found: dict[str, Any] | None = None
    # The error is raised outside of any except block: libpq's own, which quotes, must not be its context.
    with suppress(psycopg.Error, UnicodeError):
        found = conninfo_to_dict(text)
    url = _URL.match(text) is not None
    if found is None:
        raise BadDsnError(_reason(text, url))
    path = text.split("://", 1)[1].partition("?")[0].partition("/")[2] if url else ""
    # A URL as the value of a keyword would be shown as the database's name.
    misread = any("://" in str(found.get(name, "")) for name in ("dbname", "host", "user"))
    misread = misread or not all(_is_host(str(found.get(name) or "")) for name in ("host", "hostaddr"))
    misread = misread or "@" in str(found.get("host", "")) or _PORTS.fullmatch(str(found.get("port", ""))) is None
    if misread or ("@" in path and "@" not in text.split("://", 1)[1].partition("/")[0]):
        raise BadDsnError(f"the DSN cannot be read: its host, port or database is invalid. {ENCODE if url else FORMS}")
    return found


def _is_host(hosts: str) -> bool:
    """Whether no host has a colon, which would separate user and password. IPv6 addresses and socket folders may."""
    return all(
        ":" not in host or host.startswith("/") or _is_address(host) for host in map(str.strip, hosts.split(","))
    )


def _is_address(host: str) -> bool:
    with suppress(ValueError):
        ipaddress.ip_address(host)
        return True
    return False


def shown(dsn: str) -> str:
    """Return a DSN's database, server and user for people, never its password. Gaps get libpq's defaults."""
    found = {item.keyword.decode(): item.val.decode() for item in psycopg.pq.Conninfo.get_defaults() if item.val}
    found |= {name: str(value) for name, value in read(dsn).items() if value not in (None, "")}
    user = found.get("user", "")
    host = found.get("host") or found.get("hostaddr", "")
    server = (
        f"{host}:{found.get('port', '')}" if host and not host.startswith("/") else f"the socket in {host or '/tmp'}"
    )
    return f"database {found.get('dbname') or user} on {server} as {user}"


def _reason(text: str, url: bool) -> str:
    if not url:
        return f"the DSN cannot be read. {FORMS}"
    if _BAD_PERCENT.search(text):
        return f"the DSN cannot be read: it has a % that begins no escape. {ENCODE}"
    return f"the DSN cannot be read: it is no URL that libpq understands, or has an unknown setting. {ENCODE}"
