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


EveryDead = Annotated[bool, typer.Option("--all", help="Every dead message there.")]


@with_filters
def replay(
    id_: Ids = None,
    everything: Annotated[bool, typer.Option("--all", help="Every message there; with --rate every dead one.")] = False,
    filters: Filters = NONE,
    number: Number = None,
    at_rate: Annotated[
        str | None,
        typer.Option(
            "--rate", metavar="N/s", help="So many a second, in transactions of their own, until all are done."
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
    """Send dead messages back: those named, those that the filters meet, or --all. Their failures count from 0 again.

    All of them or none; with --rate batch by batch, and what is interrupted can be said again.
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
    target: Annotated[str | None, typer.Option("--target", "--to", metavar="QUEUE", help="Where to.")] = None,
    dry_run: DryRun = False,
    reason: Reason = None,
    queue: Source = None,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Put messages into another queue: those named, or the dead ones that the filters meet, or --all.

    All of them or none; they remember where they came from. For all messages of a queue, dead or not: howdah queue move.
    """
    ids = _chosen(id_, everything or filters.given, number)
    if target is None:
        raise typer.BadParameter("say where to", param_hint="--target")
    with _place(queue, dsn, role) as (admin, source):
        which = filters.which(admin)
        which = _every_dead(which) if everything else which
        moved = admin.move_messages(source, ids, target, reason, max_messages=number, dry_run=dry_run, **which)
    _said("moved", moved, dry_run, f" to {target}", as_json=as_json, queue=source, target=target)


def park(
    id_: Ids = None,
    length: Annotated[float | None, times.length("--for", help="For 30m, 12h, 7d, … [default: until retried]")] = None,
    reason: Reason = None,
    queue: Source = None,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Lay messages aside in their queue, all of them or none."""
    ids = _named(id_)
    with _place(queue, dsn, role) as (admin, source):
        parked = admin.park_messages(source, ids, delay=length, reason=reason)
    output.said(f"{parked} messages parked", as_json=as_json, queue=source, parked=parked)


def retry(
    id_: Ids = None,
    everything: Annotated[bool, typer.Option("--all", help="Every parked message there.")] = False,
    reason: Reason = None,
    queue: Source = None,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Let parked messages (delayed, blocked, laid aside) be received at once, in their old place."""
    ids = _either(id_, everything, "give either --id or --all")
    with _place(queue, dsn, role) as (admin, source):
        released = admin.retry(source, ids, reason)
    output.said(f"{released} messages released", as_json=as_json, queue=source, released=released)


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
    """Throw messages away for good: those named, or the dead ones that the filters meet, or --all.

    All of them or none. Those that are not named are thrown away once you agree, or with --yes.
    """
    ids = _chosen(id_, everything or filters.given, number)
    with _place(queue, dsn, role) as (admin, source):
        which = filters.which(admin)
        which = _every_dead(which) if everything else which
        if ids is None and not dry_run and not yes:
            found = admin.discard(source, max_messages=number, dry_run=True, **which)
            confirm(f"Discard {found} dead messages of {output.printable(source)} for good?", yes=yes)
        discarded = admin.discard(source, ids, reason, max_messages=number, dry_run=dry_run, **which)
    _said("discarded", discarded, dry_run, as_json=as_json, queue=source)


@contextmanager
def _place(queue: str | None, dsn: str | None, role: str | None) -> Iterator[tuple[Admin, str]]:
    """An administrator's connection, and the queue where the messages lie: the system's exception destination by default."""
    with connected(dsn, role) as connection:
        names = (str(row["queue"]) for row in connection.admin.list_queues())
        yield connection.admin, queue or next(name for name in names if name.startswith(EXCEPTION_DESTINATION))


def _said(act: str, count: int, dry_run: bool, more: str = "", *, as_json: bool, **result: Any) -> None:
    """How many messages an act concerned, or would concern."""
    text = f"{count} messages {'would be ' if dry_run else ''}{act}{more}"
    output.said(text, as_json=as_json, **result, **{f"would_be_{act}" if dry_run else act: count})


def _every_dead(which: Which) -> Which:
    """The filters, and one that every dead message meets."""
    return {**which, "older_than": which.get("older_than") or datetime.max.replace(tzinfo=UTC)}


def _chosen(ids: list[int] | None, otherwise: bool, number: int | None) -> list[int] | None:
    """The messages named, or None for those that --all or filters mean."""
    named = _either(ids, otherwise, "give either --id, or --all or filters such as --error-class")
    if named and number is not None:
        raise typer.BadParameter("it goes with --all or filters", param_hint="--number")
    return named


def _either(ids: list[int] | None, otherwise: bool, said: str) -> list[int] | None:
    """The messages named, each once; None if others are meant. One of both must be said."""
    if bool(ids) == otherwise:
        raise typer.BadParameter(said, param_hint="--id")
    return list(dict.fromkeys(ids)) if ids else None


def _named(ids: list[int] | None) -> list[int]:
    return _either(ids, False, "say which messages") or []
