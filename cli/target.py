"""Find the database that a command works on, and name it on stderr: nobody should have to guess it."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from . import output

if TYPE_CHECKING:
    from ..engine.embedded import EmbeddedServer

_named: list[str] = []
"""What this command has already named, because some commands connect more than once."""


_service: list[str] = []
"""The service that this command connects with, if it names one."""


def begin() -> None:
    """Start a command, which has named nothing yet."""
    _named.clear()
    _service.clear()


def connect_with(service: str | None) -> None:
    """Let the command connect with a service."""
    if service:
        _service.append(service)


def service() -> str | None:
    """The service that the command connects with."""
    return _service[-1] if _service else None


def find(dsn: str | None) -> str:
    """Return the given DSN, HOWDAH_DSN, or the DSN of a running embedded server, in this order. Names it on stderr.

    A database given by DSN is named only if stderr is a terminal. Raises CannotConnect.
    """
    from ..text.dsn import BadDsnError, shown

    given = dsn or os.environ.get("HOWDAH_DSN")
    if given:
        if _is_read_by_people():
            with suppress(BadDsnError):  # connecting will say what is wrong with it
                _name(shown(given))
        return given
    from ..engine.embedded import EmbeddedServer, running

    server = EmbeddedServer()
    info = running(server)
    _name(f"the embedded server in {server.folder}, {shown(info.dsn)}")
    _named.append(shown(info.dsn))
    return info.dsn


def _is_read_by_people() -> bool:
    return sys.stderr.isatty()


def _name(target: str) -> None:
    if target not in _named:
        _named.append(target)
        output.complain(target)


def say_how_to_reach(server: EmbeddedServer) -> None:
    """Say on stderr how to make other commands use this server, if they do not yet."""
    from ..engine.embedded import default_folder

    if os.environ.get("HOWDAH_DSN"):
        output.complain("note: HOWDAH_DSN is set, so other commands work on its database and not on this server")
    elif default_folder().expanduser().resolve() != server.folder:
        output.complain(f"note: other commands work on this server once you say: export HOWDAH_HOME={_word(server)}")


def _word(server: EmbeddedServer) -> str:
    import shlex

    return shlex.quote(str(server.folder))
