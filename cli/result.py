"""howdah result: what became of a message."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import output, times
from .common import FAILED, NOT_READY, OK, Define, Dsn, Factory, Json, Queue, Role, connected, destination

if TYPE_CHECKING:
    from ..engine.calls.results import Result


def result(
    queue: Queue,
    message_id: Annotated[
        int, typer.Argument(metavar="MESSAGE", help="Number that send printed for the message.", show_default=False)
    ],
    wait: Annotated[
        float,
        times.length("--wait", help="Time to wait until it is handled, has failed or expired: 90 (seconds), 5m, …"),
    ] = 0,
    dsn: Dsn = None,
    role: Role = None,
    factory: Factory = None,
    define: Define = None,
    as_json: Json = False,
) -> None:
    """Show what became of a message. Exit code 0 if it was handled, 1 if it failed, expired or is unknown, 3 if it
    still waits or runs.

    Only a queue with the option keep_results_ms knows more than waiting, running and unknown.
    """
    with connected(dsn, role, factory, define) as connection, connection.session() as session:
        name = destination(session, queue, factory)
        session.commit()
        found = session.result(name, message_id, wait=wait)
    output.facts(_facts(found, as_json=as_json), as_json=as_json)
    raise typer.Exit(NOT_READY if found.is_open else OK if found.state == "done" else FAILED)


def _facts(found: Result, *, as_json: bool) -> dict[str, Any]:
    """Return what is told: to people only what there is, a value as JSON, and the errors by their last one."""
    if as_json:
        return asdict(found)
    told = {key: value for key, value in asdict(found).items() if value is not None and key != "errors"}
    if found.state == "done":
        told["value"] = output.printable(output.to_json(found.value))
    return told
