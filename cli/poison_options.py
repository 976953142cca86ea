"""The options that the commands of howdah poison share, and what their words mean."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ..engine import Admin
    from ..engine.operator import Which

MessageId = Annotated[int, typer.Argument(metavar="MESSAGE_ID", show_default=False)]
Source = Annotated[
    str | None,
    typer.Option(
        "--queue", metavar="QUEUE", help="The queue they lie in. [default: the system's exception destination]"
    ),
]
Ids = Annotated[list[int] | None, typer.Option("--id", metavar="MESSAGE_ID", help="This message; may be repeated.")]
Reason = Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Kept with who did it.")]
Origin = Annotated[str | None, typer.Option("--origin", metavar="QUEUE", help="Only those that died here.")]
ErrorClass = Annotated[
    str | None, typer.Option("--error-class", metavar="CLASS", help="Only those whose last error was of this class.")
]
Fingerprint = Annotated[
    str | None, typer.Option("--fingerprint", metavar="HASH", help="Only those that died of this cause.")
]
Selector = Annotated[
    str | None,
    typer.Option("--selector", metavar="SELECTOR", help='Only those it selects by their headers: "price > 100".'),
]
OlderThan = Annotated[
    str | None, typer.Option("--older-than", metavar="DURATION", help="Only those dead for longer: 30m, 12h, 7d, …")
]
NewerThan = Annotated[str | None, typer.Option("--newer-than", metavar="DURATION", help="Only those dead for less.")]

_UNITS = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400, "w": 604800}
_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)\s*(s|min|m|h|d|w|)")
_RATE = re.compile(r"(\d{1,6}(?:\.\d{1,6})?)(?:/(s|min|m|h))?")


def seconds(word: str, option: str) -> float:
    """The length of a duration such as 90, 30m, 12h, 7d."""
    match = _DURATION.fullmatch(word.strip())
    if match is None:
        raise typer.BadParameter(f"{word!r} is no duration: say 90 (seconds), 30m, 12h, 7d or 2w", param_hint=option)
    return float(match[1]) * _UNITS[match[2]]


def rate(word: str) -> float:
    """Messages a second of a rate such as 50, 50/s, 600/min."""
    match = _RATE.fullmatch(word.strip())
    if match is None or float(match[1]) <= 0:
        raise typer.BadParameter(f"{word!r} is no rate: say 50/s or 600/min", param_hint="--rate")
    return float(match[1]) / _UNITS[match[2] or "s"]


def filters(
    admin: Admin,
    origin: str | None,
    error_class: str | None,
    fingerprint: str | None,
    older_than: str | None,
    newer_than: str | None,
    selector: str | None,
) -> Which:
    """The filters as the SQL API takes them; ages by the database's clock."""
    which: Which = {"origin": origin, "error_class": error_class, "fingerprint": fingerprint, "selector": selector}
    if older_than is None and newer_than is None:
        return which
    now = admin.now()
    which["older_than"] = _ago(now, older_than, "--older-than")
    which["newer_than"] = _ago(now, newer_than, "--newer-than")
    return which


def _ago(now: datetime, word: str | None, option: str) -> datetime | None:
    if word is None:
        return None
    try:
        return now - timedelta(seconds=seconds(word, option))
    except OverflowError:
        raise typer.BadParameter(f"{word!r} is too long ago", param_hint=option) from None
