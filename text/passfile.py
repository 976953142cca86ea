"""Files with passwords: only their owner may read them."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from psycopg.conninfo import make_conninfo

from .dsn import BadDsnError, read

VARIABLE = "HOWDAH_PASSFILE"
"""The environment variable that names a passfile."""


class LooseFileError(ValueError):
    """A file with passwords that others may read, or that is not there."""


def checked(file: str | Path) -> str:
    """Return the path of a file that nobody but its owner may read or write. Raises LooseFileError."""
    path = Path(file).expanduser()
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise LooseFileError(f"passfile {path}: {error.strerror}") from None
    if not stat.S_ISREG(mode):
        raise LooseFileError(f"passfile {path} is no file")
    if os.name == "posix" and mode & 0o077:
        raise LooseFileError(
            f"passfile {path} may be read or written by others: mode {stat.S_IMODE(mode):04o}, not 0600"
        )
    return str(path)


def accessible(dsn: str, defaults: Mapping[str, Any] | None = None, **settings: Any) -> str:
    """Return the DSN as ``canonical`` does, with the passfile that HOWDAH_PASSFILE names if the DSN names none.

    defaults: parameters for a DSN that does not have them. settings: parameters over those of the DSN.
    Raises BadDsnError, for a file that others may read, too.
    """
    said = read(dsn)
    # A service file may have them, too.
    found = {**({} if defaults is None or "service" in said else defaults), **said, **settings}
    if passfile := found.get("passfile") or os.environ.get(VARIABLE):
        try:
            found["passfile"] = checked(str(passfile))
        except LooseFileError as error:
            raise BadDsnError(f"{error}. Make it yours alone: chmod 600.") from None
    return make_conninfo("", **found)


def read_secret(file: str | Path) -> str:
    """Return the first line of such a file. Raises LooseFileError."""
    with Path(checked(file)).open(encoding="utf-8") as opened:
        return opened.readline().rstrip("\r\n")
