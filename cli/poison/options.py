"""The options that the commands of howdah poison share, and what their words mean."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from ..times import UNITS, length

if TYPE_CHECKING:
    from ...engine import Admin
    from ...engine.calls.poison import Which

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
OlderThan = Annotated[float | None, length("--older-than", help="Only those dead for longer: 30m, 12h, 7d, …")]
NewerThan = Annotated[float | None, length("--newer-than", help="Only those dead for less.")]

Target = Annotated[
    str | None, typer.Option("--target", "--to", metavar="QUEUE", help="Where to. [default: each to its origin]")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say how many it would be.")]
Number = Annotated[
    int | None, typer.Option("--number", "-n", min=1, help="Only so many of them, the longest dead: a sample.")
]

_RATE = re.compile(r"(\d{1,6}(?:\.\d{1,6})?)(?:/(s|min|m|h))?")


def rate(word: str) -> float:
    """Messages a second of a rate such as 50, 50/s, 600/min."""
    match = _RATE.fullmatch(word.strip())
    if match is None or float(match[1]) <= 0:
        raise typer.BadParameter(f"{word!r} is no rate: say 50/s or 600/min", param_hint="--rate")
    return float(match[1]) / UNITS[match[2] or "s"]


def filters(
    admin: Admin,
    origin: str | None,
    error_class: str | None,
    fingerprint: str | None,
    older_than: float | None,
    newer_than: float | None,
    selector: str | None,
) -> Which:
    """The filters as the SQL API takes them; ages by the database's clock."""
    which: Which = {"origin": origin, "error_class": error_class, "fingerprint": fingerprint, "selector": selector}
    if older_than is None and newer_than is None:
        return which
    now = admin.now()
    which["older_than"] = None if older_than is None else now - timedelta(seconds=older_than)
    which["newer_than"] = None if newer_than is None else now - timedelta(seconds=newer_than)
    return which
