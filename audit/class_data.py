"""Class data sharing: a file in the cache from which Java takes the classes of an audit instead of loading them anew.

A cold audit of few messages takes 20 seconds with the file and 26 without. Java 17 and 21 write it when they end.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import time
from pathlib import Path

import pyspark

from .java import Java, cache_path

_SILENT = "-Xlog:disable -Xlog:all=error:stderr"
"""Java would tell on standard output of each class that it leaves out, and of a file that does not fit."""

_FORGOTTEN = 30 * 24 * 3600
"""Files that no audit used for so many seconds, of a Java or a Spark that is gone, are removed."""


def class_data_options(java: Java, jar: Path | None, *, keep: bool) -> str:
    """Options of Java: to read the file that fits, or with ``keep`` to write it if there is none. They may be empty.

    Writing makes one audit 6 seconds longer and takes 190 MB of the cache. Java checks what it reads, and goes on
    without the file where its own build or the class path differ. A cache that cannot be written has no file; neither
    has a Java without class data of its own, to which ours would be added.
    """
    own = java.program.resolve().parent.parent / "lib" / "server" / "classes.jsa"
    if not (own.is_file() and java.home.is_relative_to(cache_path())):
        return ""
    key = _key(own, Path(pyspark.__file__), jar)
    files = [path for path in java.home.glob(f"{key}-*.jsa") if is_whole(path)]
    if files:
        _tidy(java.home, files[0], key)
        return f'-XX:SharedArchiveFile="{files[0]}" {_SILENT}'
    # A name of its own for each process: two that write one file would spoil it.
    return f'-XX:ArchiveClassesAtExit="{java.home / f"{key}-{secrets.token_hex(4)}.jsa"}" {_SILENT}' if keep else ""


def _key(*parts: Path | None) -> str:
    """A name that changes with any of these files: path, size and moment."""
    about = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in parts if path is not None]
    return hashlib.sha256(repr((about, pyspark.__version__)).encode()).hexdigest()[:16]


def is_whole(path: Path) -> bool:
    """Whether Java wrote it to its end: the header with its first bytes comes last."""
    try:
        with path.open("rb") as file:
            return any(file.read(4))
    except OSError:
        return False


def _tidy(folder: Path, used: Path, key: str) -> None:
    """Note that it is used; remove its twins, and what nobody has used for long."""
    try:
        os.utime(used)
        for path in folder.glob("*.jsa"):
            twin = path.name.startswith(f"{key}-") and path != used and is_whole(path)
            if twin or path.stat().st_mtime < time.time() - _FORGOTTEN:
                path.unlink()
    except OSError:
        return  # another process was faster, or the cache is somebody else's
