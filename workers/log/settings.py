"""The settings of the log under their names in Sun ONE MQ, such as ``imq.log.level``, also from a file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .rollover import ROLLOVER_BYTES, ROLLOVER_SECONDS

LEVELS = ("ERROR", "WARNING", "INFO", "DEBUG")
"""In falling severity. Sun's levels have no DEBUG."""
ALL = frozenset(LEVELS)
PREFIXES = ("imq.log.", "imq.metrics.")
FACILITIES = frozenset({"daemon", "user", "syslog", *(f"local{number}" for number in range(8))})
_SECONDS_MAX = 3_155_760_000


class BadSetting(ValueError):
    """A setting of the log has an unknown name or an invalid value."""


@dataclass(frozen=True)
class LogSettings:
    """Where lines of which levels go, when files roll over, and how often the metrics are logged."""

    #: None: as the command says.
    level: str | None = None
    console: frozenset[str] = ALL
    console_stream: str = "ERR"
    #: None: no file.
    file: Path | None = None
    file_levels: frozenset[str] = ALL
    rollover_bytes: int = ROLLOVER_BYTES
    rollover_seconds: int = ROLLOVER_SECONDS
    syslog: frozenset[str] = frozenset()
    syslog_address: str | tuple[str, int] = "/dev/log"
    syslog_facility: str = "daemon"
    syslog_identity: str = "howdah"
    #: Seconds between two lines of metrics. None: there are none.
    metrics_seconds: float | None = None


def parse(settings: Mapping[str, Any]) -> LogSettings:
    """Return the settings that have these names and values. Raises BadSetting."""
    given = {str(name): str(value).strip() for name, value in settings.items()}
    for name in given:
        if name not in _NAMES:
            raise BadSetting(f"there is no setting {name}; known are: {', '.join(sorted(_NAMES))}")
    folder = Path(given.get("imq.log.file.dirpath", "."))
    to_file = {"imq.log.file.dirpath", "imq.log.file.filename"} & given.keys()
    return LogSettings(
        level=_choice(given, "imq.log.level", LEVELS, None),
        console=_levels(given, "imq.log.console.output", ALL),
        console_stream=_choice(given, "imq.log.console.stream", ("ERR", "OUT"), "ERR") or "ERR",
        file=folder / given.get("imq.log.file.filename", "log.txt") if to_file else None,
        file_levels=_levels(given, "imq.log.file.output", ALL),
        rollover_bytes=_number(given, "imq.log.file.rolloverbytes", ROLLOVER_BYTES),
        rollover_seconds=_number(given, "imq.log.file.rolloversecs", ROLLOVER_SECONDS),
        syslog=_levels(given, "imq.log.syslog.output", frozenset()),
        syslog_address=_address(given.get("imq.log.syslog.address", "/dev/log")),
        syslog_facility=_facility(given),
        syslog_identity=given.get("imq.log.syslog.identity", "howdah"),
        metrics_seconds=_metrics(given),
    )


def read(path: Path) -> dict[str, Any]:
    """Return the settings in a file in the syntax of properties. Those of other things are left out."""
    text = re.sub(r"\\\n\s*", "", path.read_text(encoding="utf-8"))
    found = {}
    for line in map(str.strip, text.splitlines()):
        if line and line[0] not in "#!":
            name, *value = re.split(r"\s*[=:]\s*|\s+", line, maxsplit=1)
            found[name] = "".join(value)
    return ours(found)


def ours(tree: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Return the settings of the log in nested tables, such as TOML makes of ``imq.log.level``, by their names."""
    found: dict[str, Any] = {}
    for key, value in tree.items():
        name = f"{before}{key}"
        if isinstance(value, Mapping):
            found |= ours(value, f"{name}.")
        elif name.startswith(PREFIXES):
            found[name] = ("true" if value else "false") if isinstance(value, bool) else value
    return found


def _choice(given: Mapping[str, str], name: str, choices: tuple[str, ...], otherwise: str | None) -> str | None:
    value = given.get(name)
    if value is None:
        return otherwise
    if value.upper() not in choices:
        raise BadSetting(f"{name} must be one of {', '.join(choices)}, not {value!r}")
    return value.upper()


def _levels(given: Mapping[str, str], name: str, otherwise: frozenset[str]) -> frozenset[str]:
    return levels(given[name], name) if name in given else otherwise


def levels(text: str, name: str = "levels") -> frozenset[str]:
    """Return the set that ``ERROR|WARNING``, ALL or NONE names. Raises BadSetting."""
    words = {word.strip().upper() for word in text.split("|")}
    if words in ({"ALL"}, {"NONE"}):
        return ALL if words == {"ALL"} else frozenset()
    if not words <= ALL:
        raise BadSetting(f"{name} must be ALL, NONE, or some of {'|'.join(LEVELS)}, not {text!r}")
    return frozenset(words)


def _number(given: Mapping[str, str], name: str, otherwise: int) -> int:
    """A number; 0 and -1 mean never."""
    value = given.get(name, str(otherwise))
    if not re.fullmatch(r"-1|\d{1,15}", value):
        raise BadSetting(f"{name} must be a number, or 0 or -1 for never, not {value!r}")
    return max(int(value), 0)


def _address(text: str) -> str | tuple[str, int]:
    host, colon, port = text.rpartition(":")
    return (host, int(port)) if colon and port.isdigit() else text


def _facility(given: Mapping[str, str]) -> str:
    value = given.get("imq.log.syslog.facility", "LOG_DAEMON").lower().removeprefix("log_")
    if value not in FACILITIES:
        raise BadSetting(f"imq.log.syslog.facility must be LOG_DAEMON or LOG_USER, LOG_LOCAL0 and so on, not {value!r}")
    return value


def _metrics(given: Mapping[str, str]) -> float | None:
    """How often: there is no line without an interval, or if metrics are switched off."""
    enabled = _choice(given, "imq.metrics.enabled", ("TRUE", "FALSE"), "TRUE")
    value = given.get("imq.metrics.interval", "-1")
    if not re.fullmatch(r"-1|\d{1,10}(\.\d{1,6})?", value) or float(value) > _SECONDS_MAX:
        raise BadSetting(f"imq.metrics.interval must be seconds, or 0 or -1 for never, not {value!r}")
    return float(value) if enabled == "TRUE" and float(value) > 0 else None


_NAMES = frozenset(
    {
        "imq.log.level",
        "imq.log.console.output",
        "imq.log.console.stream",
        "imq.log.file.output",
        "imq.log.file.dirpath",
        "imq.log.file.filename",
        "imq.log.file.rolloverbytes",
        "imq.log.file.rolloversecs",
        "imq.log.syslog.output",
        "imq.log.syslog.address",
        "imq.log.syslog.facility",
        "imq.log.syslog.identity",
        "imq.metrics.enabled",
        "imq.metrics.interval",
    }
)
