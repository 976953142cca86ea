"""howdah send: send one message or a file of messages."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from . import output, progress, times
from .common import Define, Dsn, Factory, Json, JsonBody, Queue, Role, connected, destination, pairs, transaction


def send(
    queue: Queue,
    body: Annotated[
        str | None, typer.Argument(metavar="BODY", help="Text of the body; JSON with --json-body.", show_default=False)
    ] = None,
    json_body: JsonBody = False,
    file: Annotated[
        typer.FileBinaryRead | None,
        typer.Option(
            "--file",
            "-f",
            metavar="F",
            help='File with a message a line: {"body": …, "headers": {}, "priority": 4,'
            ' "correlation_id": "", "message_type": ""}.'
            " A body that is not a string is sent as JSON. - is stdin.",
        ),
    ] = None,
    raw_lines: Annotated[
        bool, typer.Option("--raw-lines", help="Read each line of the file as the text of a body.")
    ] = False,
    from_line: Annotated[int, typer.Option("--from-line", metavar="N", min=1, help="First line to send.")] = 1,
    batch: Annotated[
        int, typer.Option("--batch", metavar="N", min=1, max=10000, help="Number of lines per transaction.")
    ] = 1000,
    priority: Annotated[
        int | None, typer.Option("--priority", "-p", help="Priority, 0 to 9; 9 is delivered first.")
    ] = None,
    header: Annotated[
        list[str] | None, typer.Option("--header", "-H", metavar="KEY=VALUE", help="Header to set; may be repeated.")
    ] = None,
    correlation_id: Annotated[str | None, typer.Option("--correlation-id", help="Correlation id.")] = None,
    message_type: Annotated[str | None, typer.Option("--type", help="Message type (JMSType).")] = None,
    reply_to: Annotated[str | None, typer.Option("--reply-to", metavar="QUEUE", help="Queue for the answer.")] = None,
    ttl: Annotated[float | None, times.length("--ttl", help="Time to live: 90 (seconds), 30m, 12h, 7d, …")] = None,
    delay: Annotated[float | None, times.length("--delay", help="Delay of the delivery.")] = None,
    non_persistent: Annotated[
        bool, typer.Option("--non-persistent", help="Cheaper; a server restart loses the message.")
    ] = False,
    reliability: Annotated[
        str | None,
        typer.Option("--reliability", metavar="LEVEL", help="BEST_EFFORT_NONPERSISTENT to ASSURED_PERSISTENT."),
    ] = None,
    content_type: Annotated[
        str | None, typer.Option("--content-type", help="[default: text/plain; application/json with --json-body]")
    ] = None,
    deduplication_key: Annotated[
        str | None,
        typer.Option(
            "--deduplication-key", metavar="KEY", help="Store nothing if this key was sent within the queue's window."
        ),
    ] = None,
    dsn: Dsn = None,
    role: Role = None,
    factory: Factory = None,
    define: Define = None,
    as_json: Json = False,
) -> None:
    """Send one message, or with --file a message for each line.

    Options apply to every line that does not set its own.

    A BODY is sent as text, even if it looks like JSON. Use --json-body to send it as JSON.
    """
    _check_usage(body, json_body, file, raw_lines or from_line > 1, content_type, deduplication_key)
    from . import lines
    from .batches import Sender

    message: dict[str, Any] = {
        "headers": pairs(header, "--header") or None,
        "priority": priority,
        "correlation_id": correlation_id,
        "message_type": message_type,
        "reply_to": reply_to,
        "content_type": "application/json" if json_body else content_type,
    }
    common: dict[str, Any] = {
        "time_to_live": ttl,
        "delay": delay,
        "delivery_mode": "non-persistent" if non_persistent else None,
        "reliability": reliability,
    }
    if body is not None:
        lines.check_text(body, message["content_type"])
        with transaction(dsn, role, factory, define) as session:
            target = destination(session, queue, factory)
            message_id = session.send(target, body, **message, **common, deduplication_key=deduplication_key)
        lines.note_text(body, message["content_type"])
        output.said(f"message {message_id} sent to {queue}", as_json=as_json, queue=queue, message_id=message_id)
        return
    assert file is not None
    with (
        connected(dsn, role, factory, define) as connection,
        connection.session() as session,
        progress.sending(file) as (advance, count),
    ):
        target = destination(session, queue, factory)
        found = lines.read(file, raw=raw_lines, start=from_line, content_type=content_type, advance=advance)
        outcome = Sender(session, target, message, common, batch=batch, start=from_line, sent=count).send_all(found)
    result = {"queue": queue, "sent": outcome.sent, "last_line": outcome.last_line}
    output.said(f"{output.counted(outcome.sent, 'message')} sent to {queue}", as_json=as_json, **result)


def _check_usage(
    body: str | None, json_body: bool, file: object, of_lines: bool, content_type: str | None, key: str | None
) -> None:
    if (body is None) == (file is None):
        raise typer.BadParameter("give either a BODY or a --file", param_hint="BODY")
    if file is not None and key is not None:
        raise typer.BadParameter("it identifies one message, not those of a --file", param_hint="--deduplication-key")
    if json_body and file is not None:
        raise typer.BadParameter("a --file marks JSON in its lines", param_hint="--json-body")
    if json_body and content_type is not None:
        raise typer.BadParameter("it says the content type: application/json", param_hint="--json-body")
    if file is None and of_lines:
        raise typer.BadParameter("--raw-lines and --from-line need a --file", param_hint="--file")
