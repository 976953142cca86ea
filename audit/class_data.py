"""Class data sharing: a file in the cache from which Java takes the classes of an audit instead of loading them anew.

Java 17 and 21 write it when they end, after Python has. So a Java that is ended with its group, or with its container,
writes nothing. HOWDAH_CLASS_DATA=off has no file used or written, and =read has none written.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import time
from contextlib import suppress
from pathlib import Path

import pyspark

from .errors import AuditError
from .java import Java, cache_path

_SILENT = "-Xlog:disable -Xlog:all=error:stderr"
"""Java would tell on standard output of each class that it leaves out, and of a file that does not fit."""

_OTHERS = (
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "_JAVA_OPTIONS",
    "SPARK_SUBMIT_OPTS",
    "SPARK_HOME",
    "SPARK_CONF_DIR",
)
"""Variables that give Java an agent, logs of its own or another class path: it may then refuse to write a file."""

_UNFINISHED, _FORGOTTEN = 3600, 30 * 24 * 3600
"""Seconds after which a file is removed that Java did not end, or that no audit used."""

_written: list[Path] = []
"""The file that this process's Java writes when it ends: one at most, for Java starts once."""


def class_data_options(java: Java, jar: Path | None, *, keep: bool) -> str:
    """Options of Java: to read the file that fits, or with ``keep`` to write it if there is none. They may be empty.

    Java checks what it reads, and goes on without the file where its own build or the class path differ. A cache that
    cannot be written has no file. Neither has a Java without class data of its own, to which ours would be added.
    Raises AuditError if HOWDAH_CLASS_DATA says something else.
    """
    own = java.program.resolve().parent.parent / "lib" / "server" / "classes.jsa"
    home, wish = java.home, os.environ.get("HOWDAH_CLASS_DATA") or "keep"
    if wish not in ("keep", "read", "off"):
        raise AuditError(f"HOWDAH_CLASS_DATA is {wish!r}; it can be keep, read or off")
    if wish == "off" or any(map(os.environ.get, _OTHERS)) or re.search(r'[:"\\\s]', str(home)):
        return ""
    if not (own.is_file() and home.is_relative_to(cache_path())):
        return ""
    key = _key(own, Path(pyspark.__file__), jar)
    used = next((path for path in home.glob(f"{key}-*.jsa") if is_whole(path)), None)
    _tidy(used, key)
    if used is not None:
        return f'-XX:SharedArchiveFile="{used}" {_SILENT}'
    if not keep or wish == "read" or os.getpid() == 1 or _written:
        return ""
    # A name of its own for each process: two that write one file would spoil it.
    _written.append(home / f"{key}-{secrets.token_hex(4)}.jsa")
    return f'-XX:ArchiveClassesAtExit="{_written[-1]}" {_SILENT}'


def audited() -> None:
    """Note that the classes are those of a whole audit. Otherwise nobody reads the file."""
    for path in _written:
        with suppress(OSError):  # whoever deletes the cache meanwhile loses no audit by it
            _mark(path).touch()


def is_whole(path: Path) -> bool:
    """Whether Java wrote it to its end, after a whole audit: the header with its first bytes comes last."""
    try:
        with path.open("rb") as file:
            return any(file.read(4)) and _mark(path).exists()
    except OSError:
        return False


def _mark(path: Path) -> Path:
    return path.with_suffix(".audited")


def _key(*parts: Path | None) -> str:
    """A name that changes with any of these files: path, size and moment."""
    about = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in parts if path is not None]
    return hashlib.sha256(repr((about, pyspark.__version__)).encode()).hexdigest()[:16]


def _tidy(used: Path | None, key: str) -> None:
    """Note that one is used. Remove its twins, what Java did not end, and what nobody has used for long."""
    try:
        if used is not None:
            os.utime(used)
        for mark in cache_path().glob("java-*/*.audited"):
            if not mark.with_suffix(".jsa").exists() and mark.stat().st_mtime < time.time() - _UNFINISHED:
                mark.unlink()
        for path in cache_path().glob("java-*/*.jsa"):
            age = time.time() - path.stat().st_mtime
            whole = is_whole(path)
            twin = used is not None and path != used and whole and path.parent == used.parent
            if (twin and path.name.startswith(f"{key}-")) or age > (_FORGOTTEN if whole else _UNFINISHED):
                path.unlink()
                _mark(path).unlink(missing_ok=True)
    except OSError:
        return  # another process was faster, or the cache is somebody else's
