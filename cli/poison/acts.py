"""What an operator does with messages that failed: replay, edit, move, park, retry, discard."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import output, times
from ..common import Dsn, Json, Role, Yes, confirm, connected
from .options import NONE, DryRun, Filters, Ids, Number, Reason, Source, Target, rate, with_filters

if TYPE_CHECKING:
    from ...engine import Admin
    from ...engine.calls.poison import Which

EXCEPTION_DESTINATION = "_SYSTEM.Exception.Destination."  # the engine has other queues besides


EveryDead = Annotated[bool, typer.Option("--all", help="All dead messages of the source queue.")]


@with_filters
def replay(
    id_: Ids = None,
    everything: Annotated[
        bool, typer.Option("--all", help="All messages of the source queue; with --rate only dead ones.")
    ] = False,
    filters: Filters = NONE,
    number: Number = None,
    at_rate: Annotated[
        str | None,
        typer.Option(
            "--rate",
            metavar="N/s",
            help="Replay at this rate, in batches with their own transactions, until all are done.",
        ),
    ] = None,
    target: Target = None,
    dry_run: DryRun = False,
    reason: Reason = None,
    queue: Source = None,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Replay dead messages: those of --id, those that match the filters, or --all. Failures count from 0 again.

    Replays all of them or none. With --rate it works in batches; after an interruption, run the command again.
    """
    ids = _chosen(id_, everything or filters.given, number)
    speed = None if at_rate is None else rate(at_rate)
    with _place(queue, dsn, role) as (admin, source):
        which = filters.which(admin)
        if speed is None or dry_run:
            replayed = admin.replay(
                source, ids, target=target, max_messages=number, reason=reason, dry_run=dry_run, **which
            )
        else:
            from ..paced import Paced

            replayed = Paced(admin, source, ids, number, speed, target, reason, which).run()
    _said("replayed", replayed, dry_run, as_json=as_json, queue=source)


@with_filters
def move(
    id_: Ids = None,
    everything: EveryDead = False,
    filters: Filters = NONE,
    number: Number = None,
    target: Annotated[str | None, typer.Option("--target", "--to", metavar="QUEUE", help="Destination queue.")] = None,
    dry_run: DryRun = False,
    reason: Reason = None,
    queue: Source = None,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Move messages to another queue: those of --id, the dead ones that match the filters, or --all dead ones.

    Moves all of them or none. They keep the name of their origin.

    To move all messages of a queue, dead or not, use howdah queue move.
    """
    ids = _chosen(id_, everything or filters.given, number)
    if target is None:
        raise typer.BadParameter("name the destination queue", param_hint="--target")
    with _place(queue, dsn, role) as (admin, source):
        which = filters.which(admin)
        which = _every_dead(which) if everything else which
        moved = admin.move_messages(source, ids, target, reason, max_messages=number, dry_run=dry_run, **which)
    _said("moved", moved, dry_run, f" to {target}", as_json=as_json, queue=source, target=target)


def park(
    id_: Ids = None,
    length: Annotated[
        float | None, times.length("--for", help="How long to park: 30m, 12h, 7d, … [default: until retried]")
    ] = None,
    reason: Reason = None,
    queue: Source = None,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Park messages in their queue, all of them or none."""
    ids = _named(id_)
    with _place(queue, dsn, role) as (admin, source):
        parked = admin.park_messages(source, ids, delay=length, reason=reason)
    output.said(f"{output.counted(parked, 'message')} parked", as_json=as_json, queue=source, parked=parked)


def retry(
    id_: Ids = None,
    everything: Annotated[bool, typer.Option("--all", help="All parked messages of the source queue.")] = False,
    reason: Reason = None,
    queue: Source = None,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Make parked messages (delayed, blocked or laid aside) ready at once, in their old position."""
    ids = _either(id_, everything, "give either --id or --all")
    with _place(queue, dsn, role) as (admin, source):
        released = admin.retry(source, ids, reason)
    output.said(f"{output.counted(released, 'message')} released", as_json=as_json, queue=source, released=released)


@with_filters
def discard(
    id_: Ids = None,
    everything: EveryDead = False,
    filters: Filters = NONE,
    number: Number = None,
    dry_run: DryRun = False,
    reason: Reason = None,
    queue: Source = None,
    yes: Yes = False,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Discard messages for good: those of --id, the dead ones that match the filters, or --all dead ones.

    Discards all of them or none. Filters and --all ask for confirmation unless --yes is given.
    """
    ids = _chosen(id_, everything or filters.given, number)
    with _place(queue, dsn, role) as (admin, source):
        which = filters.which(admin)
        which = _every_dead(which) if everything else which
        if ids is None and not dry_run and not yes:
            found = admin.discard(source, max_messages=number, dry_run=True, **which)
            confirm(f"Discard {output.counted(found, 'dead message')} of {output.printable(source)} for good?", yes=yes)
        discarded = admin.discard(source, ids, reason, max_messages=number, dry_run=dry_run, **which)
    _said("discarded", discarded, dry_run, as_json=as_json, queue=source)


@contextmanager
def _place(queue: str | None, dsn: str | None, role: str | None) -> Iterator[tuple[Admin, str]]:
    """Yield an administrator's connection and the source queue, by default the system's exception destination."""
    with connected(dsn, role) as connection:
        names = (str(row["queue"]) for row in connection.admin.list_queues())
        yield connection.admin, queue or next(name for name in names if name.startswith(EXCEPTION_DESTINATION))


def _said(act: str, count: int, dry_run: bool, more: str = "", *, as_json: bool, **result: Any) -> None:
    """Say how many messages an act concerned or would concern."""
    text = f"{output.counted(count, 'message')} {'would be ' if dry_run else ''}{act}{more}"
    output.said(text, as_json=as_json, **result, **{f"would_be_{act}" if dry_run else act: count})


def _every_dead(which: Which) -> Which:
    """Return the filters and one that every dead message matches."""
    return {**which, "older_than": which.get("older_than") or datetime.max.replace(tzinfo=UTC)}


def _chosen(ids: list[int] | None, otherwise: bool, number: int | None) -> list[int] | None:
    """Return the messages named, or None for those of --all or filters."""
    named = _either(ids, otherwise, "give either --id, or --all or filters such as --error-class")
    if named and number is not None:
        raise typer.BadParameter("it goes with --all or filters", param_hint="--number")
    return named


def _either(ids: list[int] | None, otherwise: bool, said: str) -> list[int] | None:
    """Return the messages named, each once, or None if others are meant. One of the two must be given."""
    if bool(ids) == otherwise:
        raise typer.BadParameter(said, param_hint="--id")
    return list(dict.fromkeys(ids)) if ids else None


def _named(ids: list[int] | None) -> list[int]:
    return _either(ids, False, "say which messages") or []
