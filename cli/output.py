"""Print lines for people and JSON for machines; ``tables`` prints tables. Data is never read as markup."""

from __future__ import annotations

import base64
import errno
import json
import sys
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ..text import controls

if TYPE_CHECKING:
    from rich.console import Console

    from ..engine import Message

#: Columns where no terminal says how many there are: files and pipes get tables that are not cut.
WIDTH_WITHOUT_TERMINAL = 200

printable = controls.printable


def console(*, stderr: bool = False) -> Console:
    """Return Rich's console on the present stdout or stderr."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else WIDTH_WITHOUT_TERMINAL
    return Console(file=stream, width=width, highlight=False, markup=False, emoji=False)


def counted(number: int, thing: str) -> str:
    """Return "1 message", "2 messages"."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def to_json(value: Any) -> str:
    """Return one JSON document on one line. Times are ISO 8601, durations seconds, bytes base64."""
    return controls.json_printable(json.dumps(value, default=_plain, ensure_ascii=False))


def _plain(value: Any) -> Any:
    match value:
        case datetime():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case bytes():
            return base64.b64encode(value).decode()
    return str(value)


def cell(value: Any) -> str:
    """Format a value for people."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case datetime():
            return value.isoformat(" ", "seconds")
        case timedelta():
            # Below zero is a clock's jitter, which timedelta would write as "-1 day, 23:59:59".
            return str(timedelta(seconds=round(max(value.total_seconds(), 0))))
        case list():
            return ", ".join(map(cell, value))
        case dict():
            return printable(to_json(value)) if value else ""
        case bytes():
            return "\\x" + value.hex()
        case UUID():
            return str(value)
    return one_line(str(value))


def one_line(text: str) -> str:
    """Escape line ends in a text, so that no part of it looks like a line of ours."""
    return printable(text).replace("\n", "\\n").replace("\t", " ")


def write(text: str) -> None:
    """Print and flush a line on stdout, so that the stream's errors are raised here and not at exit.

    Raises OSError, also where stdout was closed from the start: ``print`` would do nothing then.
    """
    if sys.stdout is None:
        raise OSError(errno.EBADF, "stdout is closed")
    print(text, flush=True)


def complain(text: str) -> None:
    """Print a line on stderr in the form of an error."""
    print(f"howdah: {printable(text)}", file=sys.stderr, flush=True)


def facts(row: Mapping[str, Any], *, as_json: bool) -> None:
    """Print one thing as a JSON object, or as a line for each fact."""
    if as_json:
        write(to_json(row))
        return
    width = max(map(len, row))
    write("\n".join(f"{key:<{width}}  {cell(value)}".rstrip() for key, value in row.items()))


def said(text: str, *, as_json: bool, **result: Any) -> None:
    """Print what was done as a sentence, or its facts as JSON."""
    write(to_json(result) if as_json else printable(text))


def body_preview(body: str | bytes, length: int = 60) -> str:
    """Return the beginning of a body on one line."""
    # Cut first: a body may have 70 MB.
    start = body[: length * 4]
    text = cell(start) if isinstance(start, bytes) else printable(" ".join(start.split()))
    return text if len(text) <= length and len(start) == len(body) else text[: length - 1] + "…"


def message_json(message: Message) -> str:
    """Return a message as a JSON line that ``send --file`` reads. A JSON body stays exactly as sent, to the digit."""
    fields = {name: value for name, value in message.to_dict().items() if name != "body"}
    if isinstance(message.body, bytes):
        return to_json({**fields, "body_base64": message.body})
    body = to_json(message.body)
    if is_json(message.content_type):
        try:
            # A JSON string stays JSON text: otherwise it would look like a text body.
            if not isinstance(json.loads(message.body), str):
                body = controls.json_printable(message.body)
        except ValueError:
            pass
    return f'{to_json(fields)[:-1]}, "body": {body}}}'


def is_json(content_type: str) -> bool:
    """Return whether a MIME type means JSON."""
    kind = content_type.split(";")[0].strip().lower()
    return kind == "application/json" or kind.endswith("+json")


def message_text(message: Message) -> str:
    """Format a message for people: a line about it, its headers, its whole body."""
    about = [
        f"message {message.message_id}",
        f"priority {message.priority}",
        f"sent {cell(message.sent_at)}",
        message.content_type,
    ]
    if message.redelivered:
        about.append(f"delivery {message.delivery_count}")
    for name in ("message_type", "correlation_id", "reply_to", "conversation_id", "expires_at", "origin_queue"):
        if (value := getattr(message, name)) is not None:
            about.append(f"{name.replace('_', ' ')} {cell(value)}")
    if message.headers:
        about.append(f"headers {cell(message.headers)}")
    body = cell(message.body) if isinstance(message.body, bytes) else printable(message.body)
    return f"{one_line(' · '.join(about))}\n{body}"
