"""Where the log goes: console, file and syslog, each with the levels that it takes."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable
from logging.handlers import SysLogHandler

from .rollover import RolloverFile
from .settings import LogSettings, levels


class Levels(logging.Filter):
    """Lets records of some levels through: a set such as INFO alone, not a threshold."""

    def __init__(self, taken: Iterable[str] | str) -> None:
        """taken: level names, or a text such as "ERROR|WARNING", ALL or NONE."""
        super().__init__()
        self._taken = levels(taken) if isinstance(taken, str) else frozenset(taken)

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record's level is one of them. What lies between two levels counts as the lower one."""
        return level_of(record.levelno) in self._taken


def level_of(number: int) -> str:
    """Return which of the four levels a record has. CRITICAL is an ERROR."""
    for level, least in (("ERROR", logging.ERROR), ("WARNING", logging.WARNING), ("INFO", logging.INFO)):
        if number >= least:
            return level
    return "DEBUG"


def handlers(settings: LogSettings, formatter: logging.Formatter) -> list[logging.Handler]:
    """Return a handler for each channel that takes anything. Raises OSError."""
    made: list[tuple[logging.Handler, frozenset[str]]] = []
    if settings.console:
        stream = sys.stdout if settings.console_stream == "OUT" else sys.stderr
        made.append((logging.StreamHandler(stream), settings.console))
    if settings.file is not None and settings.file_levels:
        settings.file.parent.mkdir(parents=True, exist_ok=True)
        with settings.file.open("ab"):  # so that a folder without the right to write is said at once
            pass
        file = RolloverFile(settings.file, settings.rollover_bytes, settings.rollover_seconds)
        made.append((file, settings.file_levels))
    if settings.syslog:
        syslog = SysLogHandler(settings.syslog_address, settings.syslog_facility)
        syslog.ident = f"{settings.syslog_identity}: "
        syslog.append_nul = False
        made.append((syslog, settings.syslog))
    for handler, taken in made:
        handler.setFormatter(formatter)
        handler.addFilter(Levels(taken))
    return [handler for handler, _ in made]
