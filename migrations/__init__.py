"""Bring a database to the state the code expects: tables by numbered revisions, procedures as a whole.

``migrate`` is idempotent and safe to run while workers run and from several places at once. Everything happens in one
transaction: it is done or it is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import text

from ..procedures import Roles, checksum
from ..text.dsn import BadDsnError
from . import adopting, facades
from .connecting import begin
from .names import include_name, include_object
from .roles import MigrationError, grant_for_me, installed_roles

__all__ = [
    "BadDsnError",
    "MigrationError",
    "State",
    "add_facade",
    "adopt_pgmq",
    "downgrade",
    "include_name",
    "include_object",
    "migrate",
    "missing_grant",
    "newest",
    "remove_facade",
    "state",
]


@dataclass(frozen=True)
class State:
    """What is installed: the database's revision, the code's newest one, and whether the procedures are current."""

    revision: str | None
    head: str
    procedures_current: bool

    @property
    def current(self) -> bool:
        """Whether nothing is left to do."""
        return self.revision == self.head and self.procedures_current


def config() -> Config:
    """Return Alembic's configuration, independent of the working directory."""
    settings = Config()
    settings.set_main_option("script_location", str(files(__name__)))
    return settings


def migrate(dsn: str, *, roles: Roles | None = None, engine_name: str = "howdah", revision: str = "head") -> State:
    """Upgrade the database at ``dsn`` (libpq's form) and return its state.

    roles: None means those installed already, else the default six. engine_name: part of the exception destination's
    name; used by the first installation only. Raises BadDsnError. Raises MigrationError, with what to do, if the
    database is newer than this code or older than its first revision. It also does if roles cannot be made, or if the
    encoding is not UTF8.
    """
    with begin(dsn) as connection:
        settings = config()
        settings.attributes.update(connection=connection, roles=roles, engine_name=engine_name)
        command.upgrade(settings, revision)
    return state(dsn)


def downgrade(dsn: str, revision: str) -> State:
    """Go back to an older revision, ``base`` meaning that nothing is left but the empty schema.

    Procedures of that age come with its release: run that release's ``howdah migrate`` afterwards.
    """
    with begin(dsn) as connection:
        settings = config()
        settings.attributes.update(connection=connection, roles=None, engine_name="howdah")
        command.downgrade(settings, revision)
    return state(dsn)


def add_facade(dsn: str, facade: str) -> None:
    """Install a facade in the database at ``dsn``, or bring it up to date. Raises MigrationError with what to do."""
    with begin(dsn) as connection:
        facades.add(connection, facade)


def adopt_pgmq(dsn: str) -> dict[str, int]:
    """Put the facade in place of a real pgmq, with its messages; returns how many each queue has.

    Raises MigrationError with what to do; nothing has changed then.
    """
    with begin(dsn) as connection:
        return adopting.adopt(connection)


def remove_facade(dsn: str, facade: str) -> None:
    """Remove a facade with its archives; the queues stay. Raises MigrationError if there is none."""
    with begin(dsn) as connection:
        facades.remove(connection, facade)


def newest() -> str:
    """Return the newest revision that this code knows."""
    return ScriptDirectory.from_config(config()).get_current_head() or ""


def state(dsn: str) -> State:
    """Return what is installed in the database at ``dsn``. Raises MigrationError if we may not act as its owner."""
    head = newest()
    with begin(dsn) as connection:
        # First: whoever may not act as the owner sees none of the tables, and is told the grant.
        roles = installed_roles(connection)
        if connection.scalar(text("select to_regclass('howdah.alembic_version')")) is None:
            return State(None, head, False)
        revision = connection.scalar(text("select version_num from howdah.alembic_version"))
        stored = connection.scalar(text("select procedures_checksum from howdah.engine")) if roles else None
        return State(revision, head, roles is not None and stored == checksum(roles))


def missing_grant(dsn: str) -> str | None:
    """Return the grant that our login needs to use Howdah, or None if it has one of Howdah's roles."""
    with begin(dsn) as connection:
        return grant_for_me(connection)
