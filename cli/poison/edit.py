"""Replay a corrected copy of a failed message."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .. import output
from ..common import Dsn, Json, Role, pairs, transaction
from .options import MessageId, Place, Reason, Target

if TYPE_CHECKING:
    from ...engine import Message


def edit(
    message_id: MessageId,
    body: Annotated[str | None, typer.Option("--body", metavar="TEXT", help="New body.")] = None,
    body_file: Annotated[
        Path | None,
        typer.Option("--body-file", metavar="FILE", exists=True, dir_okay=False, help="File with the new body."),
    ] = None,
    header: Annotated[
        list[str] | None, typer.Option("--header", "-H", metavar="KEY=VALUE", help="Header to set; the others stay.")
    ] = None,
    without: Annotated[
        list[str] | None, typer.Option("--without-header", metavar="KEY", help="Header to remove.")
    ] = None,
    content_type: Annotated[
        str | None, typer.Option("--content-type", help="MIME type. [default: the original's]")
    ] = None,
    discard_original: Annotated[
        bool, typer.Option("--discard", help="Discard the original. [default: keep it]")
    ] = False,
    target: Target = None,
    reason: Reason = None,
    queue: Place = None,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Replay a corrected copy of a message. Without an option that changes it, opens the body in $EDITOR."""
    from ...engine import Admin
    from ...engine.errors import NoSuchMessage
    from ..lines import check_text

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
    """Return the copy's body, text or bytes like the original's, or None for no change. Raises HowdahError."""
    from ...engine.errors import HowdahError
    from ..editor import edit as edit_text

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
