"""Whether a database serves messages now: what howdah.health() finds, judged by what this program was built for."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from typing import Any

import psycopg

from ..engine.admin import Admin
from ..engine.database.runner import run
from ..engine.errors import HowdahError, NotAllowed, NotMigrated, translate
from ..migrations import newest
from ..procedures import Roles, checksum
from ..text.passfile import accessible

OK = "ok"
WARNING = "warning"
FAILED = "failed"
LONGEST_SECONDS = 2_000_000.0
"""A timeout that libpq and statement_timeout can still express."""


@dataclass(frozen=True)
class Check:
    """One thing that was looked at: its state (ok, warning or failed), what was found, and what to do."""

    name: str
    state: str
    detail: str
    advice: str | None = None
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Health:
    """What was found. ``live``: the database answers."""

    live: bool
    checks: tuple[Check, ...]

    @property
    def ready(self) -> bool:
        """Whether messages go in and out now: no check failed."""
        return self.live and all(check.state != FAILED for check in self.checks)

    @property
    def sound(self) -> bool:
        """Whether nobody need look: no check failed or warns."""
        return self.live and all(check.state == OK for check in self.checks)

    def failed(self, name: str) -> bool:
        """Whether the check of that name failed."""
        return any(check.name == name and check.state == FAILED for check in self.checks)

    def as_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {"live": self.live, "ready": self.ready, "checks": [asdict(check) for check in self.checks]}


def health(dsn: str, *, instance: str | None = None, role: str | None = None, timeout: float = 5) -> Health:
    """Look at the database on a connection of its own. A server that does not answer is a finding, not an error.

    - instance: whether this instance serves, in place of how many do.
    - role: SET ROLE for the look.
    - timeout: seconds to wait for the connection, and again for the answer.
    """
    access = accessible(dsn)
    timeout = min(timeout, LONGEST_SECONDS)
    try:
        with (
            psycopg.connect(
                access, connect_timeout=math.ceil(timeout), autocommit=True, application_name="howdah health"
            ) as connection,
            connection.transaction(),
        ):
            _set(connection, "statement_timeout", str(max(round(timeout * 1000), 1)))
            if role is not None:
                _set(connection, "role", role)
            rows = Admin(lambda call: run(connection, call)).health(instance)
    except (psycopg.Error, HowdahError) as error:
        return _unanswered(error)
    return Health(True, tuple(_judged(Check(**row)) for row in rows))


def _set(connection: psycopg.Connection[Any], name: str, value: str) -> None:
    # For this transaction only: the session may be a pooler's.
    connection.execute("select set_config(%s, %s, true)", (name, value))


def _unanswered(error: psycopg.Error | HowdahError) -> Health:
    """Say what stood in the way of looking."""
    ours = translate(error) if isinstance(error, psycopg.Error) else error
    text = " ".join(str(error).split())
    if isinstance(ours, NotMigrated):
        return Health(True, (Check("schema", FAILED, text, "Run howdah migrate."),))
    if isinstance(ours, NotAllowed) or getattr(error, "sqlstate", None) == "22023":  # no such role
        return Health(True, (Check("access", FAILED, text, "Look as a role that has howdah_browser."),))
    return Health(False, (Check("server", FAILED, text, "Start the server, or look at the DSN and the network."),))


def _judged(check: Check) -> Check:
    """Compare the schema that was found with the one that this program was built for.

    A database that is newer is only warned of: while an upgrade is under way, older programs go on working.
    """
    if check.name != "schema" or check.state == FAILED:
        return check
    found, needed = str(check.facts["revision"]), newest()
    if found != needed:
        if found.isdigit() and int(found) < int(needed):
            detail = f"{check.detail}, but this program needs {needed}"
            return replace(check, state=FAILED, detail=detail, advice="Run howdah migrate.")
        detail = f"{check.detail}, but this program was built for {needed}"
        return replace(check, state=WARNING, detail=detail, advice="Install a newer Howdah here.")
    if check.facts["procedures"] != _checksum(Roles(*check.facts["roles"])):
        detail = f"{check.detail}, with functions of another version"
        return replace(check, state=WARNING, detail=detail, advice="Run howdah migrate of the newest version in use.")
    return check


@cache
def _checksum(roles: Roles) -> str:
    return checksum(roles)
