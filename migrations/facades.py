"""Install and remove the facades: other queues' SQL APIs over Howdah."""

from __future__ import annotations

from sqlalchemy import Connection, text

from ..procedures import FACADES, Roles, checked_name, facade_owner, identifier, install_facade
from .dropping import nothing_else
from .roles import MigrationError, installed_roles


class DriverDatabase:
    """The installer's view of a SQLAlchemy connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def run(self, sql: str) -> list[tuple[object, ...]]:
        """Run statements through the driver, which leaves colons and percent signs alone."""
        cursor = self._connection.connection.cursor()
        cursor.execute(sql)
        return list(cursor.fetchall()) if cursor.description else []


def add(connection: Connection, facade: str) -> None:
    """Install a facade, or bring it up to date, in the caller's transaction.

    Raises MigrationError if its schema is somebody else's, or Howdah is not installed.
    """
    checked_name(facade)
    database, roles = ready(connection)
    owner = facade_owner(database, facade)
    if owner == "other":
        real = " If it is the real pgmq, howdah facade adopt pgmq takes its queues over." if facade == "pgmq" else ""
        raise MigrationError(
            f"the schema {facade} is there, and it is no facade of Howdah.{real} Or drop it (drop schema {facade}"
            " cascade), and run this command again."
        )
    if facade == "pgmq_public" and facade_owner(database, "pgmq") != "howdah":
        raise MigrationError("the facade pgmq_public needs the facade pgmq: run howdah facade install pgmq first.")
    if owner is None:
        connection.execute(text(f"create schema {facade} authorization {identifier(roles.owner)}"))
    connection.execute(text(f"set local role {identifier(roles.owner)}"))
    install_facade(database, roles, facade)


def remove(connection: Connection, facade: str) -> None:
    """Remove a facade, in the caller's transaction. The queues stay, with their messages and what is archived.

    Raises MigrationError if there is none, or if a view or anything else of somebody's stands on it.
    """
    checked_name(facade)
    database, roles = ready(connection)
    if facade_owner(database, facade) != "howdah":
        raise MigrationError(f"no facade {facade} is installed here: {FACADES[facade]}")
    connection.execute(text(f"set local role {identifier(roles.owner)}"))
    with nothing_else(database, facade, "pgmq_public"):
        if facade == "pgmq" and facade_owner(database, "pgmq_public") == "howdah":
            connection.execute(text("drop schema pgmq_public cascade"))
        connection.execute(text(f"drop schema {facade} cascade"))


def remove_all(connection: Connection) -> None:
    """Remove every facade that is installed, in the caller's transaction. Raises as ``remove`` does."""
    for facade in FACADES:
        if facade_owner(DriverDatabase(connection), facade) == "howdah":
            remove(connection, facade)


def ready(connection: Connection) -> tuple[DriverDatabase, Roles]:
    """The database for the installer, and the installed roles. Raises MigrationError without Howdah."""
    roles = installed_roles(connection)
    if roles is None:
        raise MigrationError("Howdah is not installed here. Run howdah migrate first.")
    return DriverDatabase(connection), roles
