"""howdah poison: dead messages, why they died, and what becomes of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import output
from .common import Dsn, Json, Role, transaction

if TYPE_CHECKING:
    from ..engine import Admin, Message, Session

app = typer.Typer(no_args_is_help=True, help="Dead messages and their failures.")

Source = Annotated[
    str | None,
    typer.Option("--queue", metavar="QUEUE", help="The exception destination. [default: the system's]"),
]
Ids = Annotated[list[int] | None, typer.Option("--id", metavar="MESSAGE_ID", help="This message; may be repeated.")]

LIST_COLUMNS = {
    "message_id": "message",
    "origin_queue": "origin",
    "dead_at": "dead since",
    "failures": "failures",
    "dead_reason": "reason",
    "last_error": "last error",
}
INCIDENTS_MAX = 10000
PAGE = 1000


@app.command("list")
def list_(
    queue: Annotated[
        str | None,
        typer.Argument(metavar="QUEUE", help="The exception destination. [default: the system's]"),
    ] = None,
    number: Annotated[int, typer.Option("--number", "-n", min=1, help="How many at most.")] = 100,
    origin: Annotated[str | None, typer.Option("--origin", metavar="QUEUE", help="Only those that died here.")] = None,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Show the messages that lie in an exception destination."""
    with transaction(dsn, role) as session:
        admin = _admin(session)
        source = queue or _system_destination(admin)
        there = {row["queue"] for row in admin.list_queues()}
        rows = [_dead_row(admin, message, there) for message in islice(_dead(session, source, origin), number)]
    output.table(rows, LIST_COLUMNS, as_json=as_json, empty=f"no dead messages in {output.printable(source)}")


@app.command()
def show(
    message_id: Annotated[int, typer.Argument(metavar="MESSAGE_ID", show_default=False)],
    queue: Source = None,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Show a message with all its failures, the first one first."""
    from ..engine.errors import NoSuchMessage

    with transaction(dsn, role) as session:
        admin = _admin(session)
        incidents = admin.incidents(message_id=message_id, max_incidents=INCIDENTS_MAX)[::-1]
        message = _find(session, message_id, _places(admin, queue, incidents))
    if message is None and not incidents:
        raise NoSuchMessage(f"nothing is known of message {message_id}", "See howdah poison list.")
    if as_json:
        shown = output.message_json(message) if message else "null"
        output.write(f'{{"message": {shown}, "incidents": {output.to_json(incidents)}}}')
        return
    if message is None:
        output.write(f"message {message_id} is gone, or in somebody's hands")
    else:
        output.facts(_message_facts(message), as_json=False)
    for incident in incidents:
        output.write(_incident_text(incident))


@app.command()
def replay(
    id_: Ids = None,
    everything: Annotated[bool, typer.Option("--all", help="Every message there.")] = False,
    origin: Annotated[
        str | None, typer.Option("--origin", metavar="QUEUE", help="With --all: only those that died here.")
    ] = None,
    to: Annotated[str | None, typer.Option("--to", metavar="QUEUE", help="[default: each to its origin]")] = None,
    queue: Source = None,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Send dead messages back, all of them or none; their failures count from 0 again."""
    if bool(id_) == everything:
        raise typer.BadParameter("give either --id or --all", param_hint="--id")
    if origin is not None and not everything:
        raise typer.BadParameter("it goes with --all", param_hint="--origin")
    with transaction(dsn, role) as session:
        admin = _admin(session)
        source = queue or _system_destination(admin)
        ids = _distinct(id_) if id_ else None
        if origin is not None:
            ids = [message.message_id for message in _dead(session, source, origin)]
        replayed = admin.replay(source, ids, target=to) if ids != [] else 0
    output.said(f"{replayed} messages replayed", as_json=as_json, queue=source, replayed=replayed)


@app.command()
def discard(
    id_: Ids = None,
    reason: Annotated[str | None, typer.Option("--reason", help="Kept in the journal.")] = None,
    queue: Source = None,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Throw dead messages away for good, all of them or none."""
    if not id_:
        raise typer.BadParameter("say which messages", param_hint="--id")
    with transaction(dsn, role) as session:
        admin = _admin(session)
        source = queue or _system_destination(admin)
        discarded = admin.discard(source, _distinct(id_), reason)
    output.said(f"{discarded} messages discarded", as_json=as_json, queue=source, discarded=discarded)


def _admin(session: Session) -> Admin:
    """The administrator's verbs in the session's transaction."""
    from ..engine import Admin

    return Admin(session.call)


def _system_destination(admin: Admin) -> str:
    return next(str(row["queue"]) for row in admin.list_queues() if row["is_system"])


def _distinct(ids: list[int]) -> list[int]:
    return list(dict.fromkeys(ids))


def _dead(session: Session, source: str, origin: str | None) -> Iterator[Message]:
    """The dead messages of a queue, which may hold others if somebody sends to it."""
    from ..engine import Browser

    for message in Browser(session, source, PAGE):
        if message.dead_at is not None and origin in (None, message.origin_queue):
            yield message


def _dead_row(admin: Admin, message: Message, there: set[str]) -> dict[str, Any]:
    # By the origin's name the database finds them by key; a dropped origin has none any more.
    origin = message.origin_queue if message.origin_queue in there else None
    incidents = admin.incidents(origin, message.message_id, INCIDENTS_MAX)
    last = incidents[0] if incidents else {}
    return {
        "message_id": message.message_id,
        "origin_queue": message.origin_queue,
        "dead_at": message.dead_at,
        "dead_reason": message.dead_reason,
        "failures": len(incidents),
        "last_error": ": ".join(filter(None, (last.get("error_class"), last.get("error_text")))) or None,
        "priority": message.priority,
        "sent_at": message.sent_at,
        "content_type": message.content_type,
        "headers": message.headers,
    }


def _places(admin: Admin, queue: str | None, incidents: list[dict[str, Any]]) -> list[str]:
    """Where a message may lie: exception destinations first, then where it failed."""
    if queue is not None:
        return [queue]
    queues = admin.list_queues()
    names = [row["queue"] for row in queues if row["is_system"]]
    names += [row["exception_queue"] for row in queues if row["exception_queue"]]
    names += [row["queue_name"] for row in incidents]
    there = {row["queue"] for row in queues}
    return [name for name in dict.fromkeys(names) if name in there]


def _find(session: Session, message_id: int, places: list[str]) -> Message | None:
    """The message, by key: its position is its number, when it is dead and until it is replayed."""
    from ..engine import Call
    from ..engine.message import COLUMNS, as_messages

    def decode(messages: list[Message]) -> Message | None:
        return messages[0] if messages and messages[0].message_id == message_id else None

    for place in places:
        for priority in range(10):
            browse = f"select {COLUMNS} from howdah.browse(%s::text, 1, %s::integer, %s::bigint)"
            if message := session.call(Call(browse, (place, priority, message_id - 1), decode, as_messages)):
                return message
    return None


def _message_facts(message: Message) -> dict[str, Any]:
    facts = {
        "message": message.message_id,
        "queue": message.queue,
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
    error = ": ".join(filter(None, (incident["error_class"], incident["error_text"])))
    lines = ["", output.printable(" · ".join(about)), output.printable(error)]
    if incident["traceback"]:
        lines.append(output.printable(incident["traceback"].rstrip()))
    return "\n".join(lines)
