"""Lengths and points of time as people write them: the same forms in every option of every command.

A length: 90 or 90s, 500ms, 30m or 30min, 12h, 7d, 2w. A point: 2026-05-01, 2026-05-01T12:30+02:00, a length (so long ago), or beginning.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Annotated, Any

import typer

FORMS = "90 (seconds), 500ms, 30m, 12h, 7d or 2w"
UNITS = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
LONGEST_SECONDS = 100 * 365.25 * 86400
"""What the database takes."""

_DURATION = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)\s*(ms|s|min|m|h|d|w|)")

Since = Annotated[
    str | None,
    typer.Option(
        "--since",
        metavar="TIME",
        help='From a time on: 2026-05-01T12:30, "beginning", or how long ago: 90s, 30m, 12h, 7d.',
    ),
]


def duration(word: str | float) -> float:
    """The seconds of a length of time."""
    if not isinstance(word, str):
        return float(word)  # an option's default, which Typer gives to the parser too
    match = _DURATION.fullmatch(word.strip())
    if match is None:
        raise typer.BadParameter(f"{word!r} is no duration: say {FORMS}")
    seconds = float(match[1]) * UNITS[match[2]]
    if seconds > LONGEST_SECONDS:
        raise typer.BadParameter(f"{word!r} is over 100 years")
    return seconds


def positive_duration(word: str | float) -> float:
    """The seconds of a length of time that is not 0."""
    seconds = duration(word)
    if seconds == 0:
        raise typer.BadParameter("it must be more than 0")
    return seconds


def length(*names: str, help: str, positive: bool = False) -> Any:
    """An option that is a length of time; the value that the command gets is in seconds."""
    return typer.Option(*names, metavar="DURATION", parser=positive_duration if positive else duration, help=help)


def moment(word: str | None, now: Callable[[], datetime], option: str) -> datetime | None:
    """The time that a word means. ``now`` is asked only for an age; a time without a zone is the local one."""
    if word is None:
        return None
    if word == "beginning":
        return datetime.min
    try:
        return datetime.fromisoformat(word).astimezone()
    except (ValueError, OverflowError):
        pass
    try:
        return now() - timedelta(seconds=duration(word))
    except typer.BadParameter as error:
        raise typer.BadParameter(f"{word!r} is no time", param_hint=option) from error
