"""Points in time as people write them: 2026-05-01, 2026-05-01T12:30+02:00, 90s, 30m, 12h, 7d (ago), or beginning."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Annotated

import typer

Since = Annotated[
    str | None,
    typer.Option(
        "--since",
        metavar="TIME",
        help='From a time on: 2026-05-01T12:30, "beginning", or how long ago: 90s, 30m, 12h, 7d.',
    ),
]

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def moment(word: str | None, now: Callable[[], datetime], option: str) -> datetime | None:
    """The time that a word means. ``now`` is asked only for an age; a time without a zone is the local one."""
    if word is None:
        return None
    if word == "beginning":
        return datetime.min
    try:
        if age := re.fullmatch(r"(\d+(?:\.\d+)?)([smhd])", word):
            return now() - timedelta(**{_UNITS[age[2]]: float(age[1])})
        return datetime.fromisoformat(word).astimezone()
    except (ValueError, OverflowError) as error:
        raise typer.BadParameter(f"{word!r} is no time", param_hint=option) from error
