"""What an operator does with messages that failed: replay, edit, move, park, retry, discard."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import output
from .common import Dsn, Json, Role, connected, pairs, transaction
from .poison_options import (
    ErrorClass,
    Fingerprint,
    Ids,
    MessageId,
    NewerThan,
    OlderThan,
    Origin,
    Reason,
    Selector,
    Source,
    filters,
    rate,
    seconds,
)

if TYPE_CHECKING:
    from ..engine import Admin, Message

EXCEPTION_DESTINATION = "_SYSTEM.Exception.Destination."  # the engine has other queues besides

Target = Annotated[
    str | None, typer.Option("--target", "--to", metavar="QUEUE", help="Where to. [default: each to its origin]")
]


def replay(
    id_: Ids = None,
    everything: Annotated[bool, typer.Option("--all", help="Every message there; with --rate every dead one.")] = False,
    origin: Origin = None,
    error_class: ErrorClass = None,
    fingerprint: Fingerprint = None,
    older_than: OlderThan = None,
    newer_than: NewerThan = None,
    selector: Selector = None,
    number: Annotated[
        int | None, typer.Option("--number", "-n", min=1, help="Only so many of them, the longest dead: a sample.")
    ] = None,
    at_rate: Annotated[
        str | None,
        typer.Option(
            "--rate", metavar="N/s", help="So many a second, in transactions of their own, until all are done."
        ),
    ] = None,
    target: Target = None,
    reason: Reason = None,
    queue: Source = None,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Send dead messages back: those named, those that the filters meet, or --all. Their failures count from 0 again.

    All of them or none; with --rate batch by batch, and what is interrupted can be said again.
    """
    chosen = any(word is not None for word in (origin, error_class, fingerprint, older_than, newer_than, selector))
    ids = _either(id_, everything or chosen, "give either --id, or --all or filters such as --error-class")
    if ids and number is not None:
        raise typer.BadParameter("it goes with --all or filters", param_hint="--number")
    speed = None if at_rate is None else rate(at_rate)
    with _place(queue, dsn, role) as (admin, source):
        which = filters(admin, origin, error_class, fingerprint, older_than, newer_than, selector)
        if speed is None:
            replayed = admin.replay(source, ids, target=target, max_messages=number, reason=reason, **which)
        else:
            from .paced import Paced

            replayed = Paced(admin, source, ids, number, speed, target, reason, which).run()
    output.said(f"{replayed} messages replayed", as_json=as_json, queue=source, replayed=replayed)


def edit(
    message_id: MessageId,
    body: Annotated[str | None, typer.Option("--body", metavar="TEXT", help="The new body.")] = None,
    body_file: Annotated[
        Path | None,
        typer.Option("--body-file", metavar="FILE", exists=True, dir_okay=False, help="The new body is in this file."),
    ] = None,
    header: Annotated[
        list[str] | None, typer.Option("--header", "-H", metavar="KEY=VALUE", help="Set a header; the others stay.")
    ] = None,
    without: Annotated[
        list[str] | None, typer.Option("--without-header", metavar="KEY", help="Leave a header out.")
    ] = None,
    content_type: Annotated[str | None, typer.Option("--content-type", help="[default: the original's]")] = None,
    discard_original: Annotated[
        bool, typer.Option("--discard", help="Discard the original. [default: it stays where it is]")
    ] = False,
    target: Target = None,
    reason: Reason = None,
    queue: Source = None,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Replay a corrected copy of a message. Without any change given, the body is opened in $EDITOR."""
    from ..engine import Admin
    from ..engine.errors import NoSuchMessage
    from .lines import check_text

    if body is not None and body_file is not None:
        raise typer.BadParameter("give either --body or --body-file", param_hint="--body")
    with transaction(dsn, role) as session:
        admin = Admin(session.call)
        found = admin.poison_message(message_id, queue)
        if found is None:
            raise NoSuchMessage(f"message {message_id} is not there", "See howdah poison list.")
        original = found.message
        new = _new_body(original, body, body_file, open_editor=not (header or without or content_type))
        if isinstance(new, str):
            check_text(new, content_type or original.content_type)
        headers = {key: value for key, value in original.headers.items() if key not in (without or ())}
        copy = admin.replay_edited(
            original.queue,
            message_id,
            body=new,
            headers=headers | pairs(header, "--header"),
            content_type=content_type or original.content_type,
            target=target,
            discard=discard_original,
            reason=reason,
        )
        copied = admin.poison_message(copy)
    where = copied.message.queue if copied else None
    output.said(
        f"message {copy}, a copy of {message_id}, sent to {where}",
        as_json=as_json,
        message_id=copy,
        original=message_id,
        queue=where,
        discarded=discard_original,
    )


def _new_body(original: Message, body: str | None, file: Path | None, *, open_editor: bool) -> str | bytes | None:
    """What is to be the copy's body, text or bytes as the original's; None: the same. Raises HowdahError."""
    from ..engine.errors import HowdahError
    from .editor import edit as edit_text

    if file is not None:
        content = file.read_bytes()
        return content.decode() if isinstance(original.body, str) else content
    if body is not None:
        return body if isinstance(original.body, str) else body.encode()
    if not open_editor:
        return None
    if not isinstance(original.body, str):
        raise HowdahError("the body is not text, which an editor could show", "Give --body-file.")
    edited = edit_text(original.body, ".json" if output.is_json(original.content_type) else ".txt")
    if edited == original.body:
        raise HowdahError("not done: the body was not changed")
    return edited


def move(
    id_: Ids = None,
    target: Annotated[str | None, typer.Option("--target", "--to", metavar="QUEUE", help="Where to.")] = None,
    reason: Reason = None,
    queue: Source = None,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Put messages into another queue, all of them or none; they remember where they came from."""
    ids = _named(id_)
    if target is None:
        raise typer.BadParameter("say where to", param_hint="--target")
    with _place(queue, dsn, role) as (admin, source):
        moved = admin.move_messages(source, ids, target, reason)
    output.said(f"{moved} messages moved to {target}", as_json=as_json, queue=source, target=target, moved=moved)


def park(
    id_: Ids = None,
    length: Annotated[
        str | None, typer.Option("--for", metavar="DURATION", help="For 30m, 12h, 7d, … [default: until retried]")
    ] = None,
    reason: Reason = None,
    queue: Source = None,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Lay messages aside in their queue, all of them or none."""
    ids = _named(id_)
    delay = None if length is None else seconds(length, "--for")
    with _place(queue, dsn, role) as (admin, source):
        parked = admin.park_messages(source, ids, delay=delay, reason=reason)
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


def discard(
    id_: Ids = None,
    reason: Reason = None,
    queue: Source = None,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Throw messages away for good, all of them or none."""
    ids = _named(id_)
    with _place(queue, dsn, role) as (admin, source):
        discarded = admin.discard(source, ids, reason)
    output.said(f"{discarded} messages discarded", as_json=as_json, queue=source, discarded=discarded)


@contextmanager
def _place(queue: str | None, dsn: str | None, role: str | None) -> Iterator[tuple[Admin, str]]:
    """An administrator's connection, and the queue where the messages lie: the system's exception destination by default."""
    with connected(dsn, role) as connection:
        names = (str(row["queue"]) for row in connection.admin.list_queues())
        yield connection.admin, queue or next(name for name in names if name.startswith(EXCEPTION_DESTINATION))


def _either(ids: list[int] | None, otherwise: bool, said: str) -> list[int] | None:
    """The messages named, each once; None if others are meant. One of both must be said."""
    if bool(ids) == otherwise:
        raise typer.BadParameter(said, param_hint="--id")
    return list(dict.fromkeys(ids)) if ids else None


def _named(ids: list[int] | None) -> list[int]:
    return _either(ids, False, "say which messages") or []
