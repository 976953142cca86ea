"""Options that the commands of howdah poison share, and the parsing of their values."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..times import UNITS, length

if TYPE_CHECKING:
    from ...engine import Admin
    from ...engine.calls.poison import Which

MessageId = Annotated[int, typer.Argument(metavar="MESSAGE_ID", show_default=False)]
Source = Annotated[
    str | None,
    typer.Option("--queue", metavar="QUEUE", help="Source queue. [default: the system's exception destination]"),
]
Place = Annotated[str | None, typer.Option("--queue", metavar="QUEUE", help="Queue of the message. [default: any]")]
Ids = Annotated[list[int] | None, typer.Option("--id", metavar="MESSAGE_ID", help="Id of a message; may be repeated.")]
Reason = Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Reason, recorded with the act.")]
Origin = Annotated[str | None, typer.Option("--origin", metavar="QUEUE", help="Only messages that died in this queue.")]
ErrorClass = Annotated[
    str | None, typer.Option("--error-class", metavar="CLASS", help="Only messages whose last error has this class.")
]
Fingerprint = Annotated[
    str | None,
    typer.Option("--fingerprint", metavar="HASH", help="Only messages whose last error has this fingerprint."),
]
Selector = Annotated[
    str | None,
    typer.Option("--selector", metavar="SELECTOR", help='Only messages that it selects by headers: "price > 100".'),
]
OlderThan = Annotated[float | None, length("--older-than", help="Only messages dead for longer than 30m, 12h, 7d, …")]
NewerThan = Annotated[float | None, length("--newer-than", help="Only messages dead for less than this.")]

Target = Annotated[
    str | None,
    typer.Option("--target", "--to", metavar="QUEUE", help="Destination queue. [default: each message's origin]"),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Change nothing; show how many messages would be affected.")]
Number = Annotated[
    int | None, typer.Option("--number", "-n", min=1, help="At most this many messages, the longest dead first.")
]

_RATE = re.compile(r"(\d{1,6}(?:\.\d{1,6})?)(?:/(s|min|m|h))?")


def rate(word: str) -> float:
    """Return messages a second for a rate such as 50, 50/s, 600/min."""
    match = _RATE.fullmatch(word.strip())
    if match is None or float(match[1]) <= 0:
        raise typer.BadParameter(f"{word!r} is not a rate: use 50/s or 600/min", param_hint="--rate")
    return float(match[1]) / UNITS[match[2] or "s"]


@dataclass(frozen=True)
class Filters:
    """Filters of dead messages, all of which must match. Ages are in seconds."""

    origin: str | None
    error_class: str | None
    fingerprint: str | None
    older_than: float | None
    newer_than: float | None
    selector: str | None

    @property
    def given(self) -> bool:
        """Whether any filter is given."""
        return any(getattr(self, name) is not None for name in FILTERS)

    def which(self, admin: Admin) -> Which:
        """Return the filters as the SQL API takes them, with ages by the database's clock."""
        which: Which = {
            "origin": self.origin,
            "error_class": self.error_class,
            "fingerprint": self.fingerprint,
            "selector": self.selector,
        }
        if self.older_than is None and self.newer_than is None:
            return which
        now = admin.now()
        which["older_than"] = None if self.older_than is None else now - timedelta(seconds=self.older_than)
        which["newer_than"] = None if self.newer_than is None else now - timedelta(seconds=self.newer_than)
        return which


#: In the signatures of commands, which never get it.
NONE = Filters(None, None, None, None, None, None)

FILTERS: dict[str, Any] = {
    "origin": Origin,
    "error_class": ErrorClass,
    "fingerprint": Fingerprint,
    "older_than": OlderThan,
    "newer_than": NewerThan,
    "selector": Selector,
}


def with_filters(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of all filters in place of the function's argument ``filters``."""

    def command(**options: Any) -> None:
        function(filters=Filters(**{name: options.pop(name) for name in FILTERS}), **options)

    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(function, eval_str=True).parameters.values():
        if parameter.name != "filters":
            parameters.append(parameter)
            continue
        for name, annotation in FILTERS.items():
            parameters.append(inspect.Parameter(name, parameter.kind, default=None, annotation=annotation))
    command.__name__, command.__doc__, command.__module__ = function.__name__, function.__doc__, function.__module__
    # Where Typer looks for options.
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command
