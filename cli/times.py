"""Durations and times as people write them, in the same forms for every option of every command.

A duration: 90 or 90s, 500ms, 30m or 30min, 12h, 7d, 2w. A time: 2026-05-01, 2026-05-01T12:30+02:00, a duration
(that long ago), or beginning.
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
"""The longest duration that the database accepts."""

_DURATION = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)\s*(ms|s|min|m|h|d|w|)")

Since = Annotated[
    str | None,
    typer.Option(
        "--since",
        metavar="TIME",
        help='Earliest time: 2026-05-01T12:30, "beginning", or how long ago: 90s, 30m, 12h, 7d.',
    ),
]


def duration(word: str | float) -> float:
    """Return a duration in seconds."""
    if not isinstance(word, str):
        return float(word)  # an option's default, which Typer gives to the parser too
    match = _DURATION.fullmatch(word.strip())
    if match is None:
        raise typer.BadParameter(f"{word!r} is not a duration: use {FORMS}")
    seconds = float(match[1]) * UNITS[match[2]]
    if seconds > LONGEST_SECONDS:
        raise typer.BadParameter(f"{word!r} is over 100 years")
    return seconds


def positive_duration(word: str | float) -> float:
    """Return a duration in seconds, which must not be 0."""
    seconds = duration(word)
    if seconds == 0:
        raise typer.BadParameter("it must be more than 0")
    return seconds


def length(*names: str, help: str, positive: bool = False) -> Any:
    """Return an option that takes a duration. The command gets seconds."""
    return typer.Option(*names, metavar="DURATION", parser=positive_duration if positive else duration, help=help)


def moment(word: str | None, now: Callable[[], datetime], option: str) -> datetime | None:
    """Return the time that a word means. Calls ``now`` only for an age. A time without a zone is local."""
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
        raise typer.BadParameter(f"{word!r} is not a time", param_hint=option) from error
