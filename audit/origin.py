"""The origin of an audit: its author, database and programs."""

from __future__ import annotations

import getpass
import platform
import socket
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC
from importlib.metadata import PackageNotFoundError, version

import psycopg

from .database import opened
from .errors import AuditError


@dataclass(frozen=True)
class Origin:
    """What an audit's page says of its origin. role: the database role. person: the system's user, with host."""

    database: str
    server: str
    postgresql: str
    system_identifier: str
    role: str
    person: str
    howdah: str
    spark: str
    started_at: str


def read_origin(dsn: str) -> Origin:
    """Ask the database at ``dsn`` and this machine. Raises AuditError if it does not answer."""
    try:
        with opened(dsn, "howdah audit") as connection:
            row = connection.execute(
                "select current_database()::text, current_user::text, current_setting('server_version'),"
                " clock_timestamp()"
            ).fetchone()
            assert row is not None
            info = connection.info
            server = f"{info.host}:{info.port}"
            identifier = ""
            with suppress(psycopg.errors.InsufficientPrivilege):
                known = connection.execute("select system_identifier::text from pg_control_system()").fetchone()
                identifier = known[0] if known else ""
    except psycopg.Error as error:
        raise AuditError(f"cannot connect: {str(error).strip()}") from error
    return Origin(
        database=row[0],
        server=server,
        postgresql=row[2],
        system_identifier=identifier,
        role=row[1],
        person=_person(),
        howdah=_version("howdah"),
        spark=_version("pyspark"),
        started_at=f"{row[3].astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC",
    )


def _person() -> str:
    try:
        name = getpass.getuser()
    except (OSError, KeyError):  # a user id without a name, as in containers
        name = "unknown user"
    return f"{name} on {socket.gethostname()} (Python {platform.python_version()})"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed as a package"
