"""howdah poison: show failed messages, the causes, and what operators did."""

from __future__ import annotations

from textwrap import indent
from typing import Annotated, Any

import typer

from .. import output, tables, times
from ..common import Dsn, Json, Role, Wide, connected
from .acts import discard, move, park, replay, retry
from .edit import edit
from .options import NONE, Filters, MessageId, Place, Source, with_filters

app = typer.Typer(no_args_is_help=True, help="Show, replay and discard failed messages.")

LIST_COLUMNS = tables.Columns(
    {
        "message_id": "message",
        "origin_queue": "origin",
        "failures": "failures",
        "last_fingerprint": "fingerprint",
        "last_error": "last error",
    },
    {"dead_at": "dead since", "dead_reason": "reason"},
    cut=frozenset({"last_error"}),
)
CAUSE_COLUMNS = tables.Columns(
    {
        "fingerprint": "fingerprint",
        "dead": "dead",
        "messages": "messages",
        "last_at": "last",
        "error": "error, for example",
    },
    {"incidents": "failures", "sample_message": "message"},
    cut=frozenset({"error"}),
)
ACT_COLUMNS = tables.Columns(
    {"at": "when", "actor": "who", "act": "did", "number": "messages", "queue_name": "in"},
    {"other_queue": "to", "reason": "why", "message_ids": "which"},
)
INCIDENTS_MAX = 10000
PAGE = 1000


@app.command("list")
@with_filters
def list_(
    queue: Annotated[
        str | None,
        typer.Argument(metavar="QUEUE", help="Exception destination. [default: the system's]"),
    ] = None,
    source: Source = None,
    number: Annotated[int, typer.Option("--number", "-n", min=1, help="Maximum number of messages.")] = 100,
    filters: Filters = NONE,
    wide: Wide = False,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """List the dead messages of an exception destination, the longest dead first."""
    if queue is not None and source is not None:
        raise typer.BadParameter("the queue is named twice", param_hint="--queue")
    place = queue or source
    rows: list[dict[str, Any]] = []
    with connected(dsn, role) as connection:
        which = filters.which(connection.admin)
        after = None
        while len(rows) < number:
            page = connection.admin.list_poison(place, max_rows=min(PAGE, number - len(rows)), after=after, **which)
            if not page:
                break
            rows += page
            after = page[-1]["position"]
    for row in rows:
        row["last_error"] = _error(row["last_error_class"], row["last_error_text"])
    where = output.printable(place) if place else "the system's exception destination"
    tables.show(rows, LIST_COLUMNS, as_json=as_json, empty=f"no dead messages in {where}", wide=wide)


@app.command()
def causes(
    queue: Annotated[
        str | None, typer.Option("--queue", metavar="QUEUE", help="Show only failures in this queue. [default: all]")
    ] = None,
    since: Annotated[
        float | None, times.length("--since", help="Show only failures of the last 30m, 12h, 7d, …")
    ] = None,
    number: Annotated[int, typer.Option("--number", "-n", min=1, max=10000, help="Maximum number of causes.")] = 20,
    last: Annotated[
        int, typer.Option("--last", metavar="NUMBER", min=1, max=10_000_000, help="How many failures to look at.")
    ] = 100_000,
    wide: Wide = False,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """List why deliveries fail: failures grouped by cause, the most frequent cause first."""
    from datetime import timedelta

    with connected(dsn, role) as connection:
        admin = connection.admin
        moment = None if since is None else admin.now() - timedelta(seconds=since)
        rows = admin.poison_causes(queue, since=moment, max_causes=number, max_failures=last)
    for row in rows:
        row["error"] = _error(row["error_class"], row["sample_text"])
    tables.show(rows, CAUSE_COLUMNS, as_json=as_json, empty="no failures", wide=wide)
    if rows and not rows[0]["complete"]:
        since_when = output.cell(rows[0]["looked_from"])
        output.complain(f"note: of the last {rows[0]['looked']:,} failures, since {since_when}; --last looks further")


@app.command()
def show(
    message_id: MessageId,
    queue: Place = None,
    full: Annotated[
        bool, typer.Option("--full", help="Show the whole body, not only the first 500 characters.")
    ] = False,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Show a message in any queue with all its failures, oldest first."""
    from ...engine.errors import NoSuchMessage

    with connected(dsn, role) as connection:
        incidents = connection.admin.incidents(message_id=message_id, max_incidents=INCIDENTS_MAX)[::-1]
        found = connection.admin.poison_message(message_id, queue)
    if found is None and not incidents:
        raise NoSuchMessage(f"nothing is known of message {message_id}", "See howdah poison list.")
    if as_json:
        shown = output.message_json(found.message) if found else "null"
        place = {
            "state": found.state if found else None,
            "due_at": found.due_at if found else None,
            "parked_reason": found.parked_reason if found else None,
        }
        output.write(f'{{"message": {shown}, {output.to_json(place)[1:-1]}, "incidents": {output.to_json(incidents)}}}')
        return
    if found is None:
        output.write(f"message {message_id} is gone, or in somebody's hands")
    else:
        output.facts(_message_facts(found), as_json=False)
        if full:
            body = found.message.body
            output.write("\n" + (output.cell(body) if isinstance(body, bytes) else output.printable(body)))
    for incident in incidents:
        output.write(_incident_text(incident))


@app.command()
def acts(
    queue: Annotated[
        str | None,
        typer.Option("--queue", metavar="QUEUE", help="Show only acts on messages of this queue. [default: all]"),
    ] = None,
    message_id: Annotated[
        int | None, typer.Option("--id", metavar="MESSAGE_ID", help="Show only acts on this message.")
    ] = None,
    number: Annotated[int, typer.Option("--number", "-n", min=1, max=10000, help="Maximum number of acts.")] = 100,
    wide: Wide = False,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """List what operators did with messages, and who it was, the latest act first."""
    with connected(dsn, role) as connection:
        rows = connection.admin.list_acts(queue, message_id, number)
    if not as_json:
        rows = [{**row, "number": len(row["message_ids"])} for row in rows]
    tables.show(rows, ACT_COLUMNS, as_json=as_json, empty="nothing was done", wide=wide)


for _act in (
    replay,
    edit,
    move,
    park,
    retry,
    discard,
):
    app.command()(_act)


def _error(error_class: str | None, text: str | None) -> str | None:
    return ": ".join(filter(None, (error_class, text))) or None


def _message_facts(found: Any) -> dict[str, Any]:
    message = found.message
    facts = {
        "message": message.message_id,
        "queue": message.queue,
        "state": found.state,
        "until": found.due_at,
        "parked": found.parked_reason,
        "origin": message.origin_queue,
        "dead since": message.dead_at,
        "reason": message.dead_reason,
        "priority": message.priority,
        "sent": message.sent_at,
        "type": message.message_type,
        "correlation id": message.correlation_id,
        "reply to": message.reply_to,
        "content": message.content_type,
        "headers": message.headers or None,
        "body": output.body_preview(message.body, 500),
    }
    return {name: value for name, value in facts.items() if value is not None}


def _incident_text(incident: dict[str, Any]) -> str:
    about = [f"failure {incident['attempt']} in {incident['queue_name']}", output.cell(incident["recorded_at"])]
    for name, text in (("worker", "worker {}"), ("duration_ms", "after {} ms"), ("sqlstate", "SQLSTATE {}")):
        if incident[name] is not None:
            about.append(text.format(incident[name]))
    about.append(f"then {incident['outcome']}")
    lines = [
        "",
        output.one_line(" · ".join(about)),
        indent(output.printable(_error(incident["error_class"], incident["error_text"]) or ""), "  "),
    ]
    if incident["traceback"]:
        lines.append(indent(output.printable(incident["traceback"].rstrip()), "  "))
    return "\n".join(lines)
