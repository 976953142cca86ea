"""howdah health: whether this database serves messages now, for service managers and containers."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from . import output, tables, times
from .common import FAILED, NOT_READY, OK, Dsn, Json, Role, Wide

if TYPE_CHECKING:
    from ..telemetry.health import Health

COLUMNS = tables.Columns(
    {"name": "check", "state": "state", "detail": "found", "advice": "what to do"},
    fold=frozenset({"detail", "advice"}),
)


def health(
    live: Annotated[bool, typer.Option("--live", help="Ask only whether the database answers.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Count a warning as a failure.")] = False,
    instance: Annotated[
        str | None,
        typer.Option("--instance", metavar="NAME", help="Ask whether this instance serves. [default: any]"),
    ] = None,
    timeout: Annotated[
        float, times.length("--timeout", positive=True, help="Longest wait for a connection, and again for the answer.")
    ] = 5,
    wide: Wide = False,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Say whether the database serves messages now. Exit code 0 if so, 1 if not, 3 without an answer or its schema."""
    from ..telemetry.health import health as looked_at
    from . import target

    found = looked_at(target.find(dsn), instance=instance, role=role, timeout=timeout)
    if as_json:
        output.write(output.to_json(found.as_dict()))
    else:
        tables.show([asdict(check) for check in found.checks], COLUMNS, as_json=False, empty="", wide=wide)
    raise typer.Exit(_code(found, live=live, strict=strict))


def _code(found: Health, *, live: bool, strict: bool) -> int:
    if live:
        return OK if found.live else NOT_READY
    if found.sound if strict else found.ready:
        return OK
    return NOT_READY if not found.live or found.failed("schema") else FAILED
