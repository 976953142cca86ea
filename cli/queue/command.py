"""howdah queue: create, show, change, pause, empty and drop queues."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import live, output, receive, tables
from ..common import Dsn, Json, OneQueue, Queue, Role, Wide, Yes, confirm, connected, pairs
from .messages import delayed, limits, move, purge
from .options import page
from .search import act, find

if TYPE_CHECKING:
    from ...engine import Connection

app = typer.Typer(no_args_is_help=True, help="Manage queues and their options.")

Options = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        "-o",
        metavar="KEY=VALUE",
        help="Option to set, such as max_failed_deliveries=3. contract=@FILE takes JSON from a file.",
    ),
]
Sending = Annotated[bool, typer.Option("--sending", help="Only sending. [default: both]")]
Receiving = Annotated[bool, typer.Option("--receiving", help="Only receiving. [default: both]")]

LIST_COLUMNS = tables.Columns(
    {
        "queue": "queue",
        "exception": "dead messages go to",
        "max_failed_deliveries": "failures",
        "journal_level": "journal",
        "paused": "paused",
    },
    {
        "default_priority": "priority",
        "created_at": "created",
        "auto_created": "by itself",
        "keep_bodies_ms": "keeps bodies, ms",
        "last_value_key": "last value of",
    },
)
STATS_COLUMNS = tables.Columns(
    {
        "queue_name": "queue",
        "live": "live",
        "in_hand": "in hand",
        "parked": "parked",
        "dead": "dead",
        "oldest_age": "oldest",
        "counted": "counted",
    },
    {
        "consumers": "workers",
        "enqueued": "in",
        "dequeued": "out",
        "consumed": "consumed",
        "expired": "expired",
        "discarded": "discarded",
        "moved_out": "moved out",
        "lost": "lost",
        "audit_verdict": "last audit",
    },
)


@app.command()
def create(queue: Queue, option: Options = None, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Create a queue."""
    options = pairs(option, "--option")
    with connected(dsn, role) as connection:
        number = connection.admin.create_queue(queue, **options)
    output.said(f"queue {queue} created", as_json=as_json, queue=queue, destination_id=number)


@app.command()
def alter(queue: Queue, option: Options = None, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Change options of a queue. The others stay as they are."""
    options = pairs(option, "--option")
    if not options:
        raise typer.BadParameter("name at least one: -o KEY=VALUE", param_hint="--option")
    with connected(dsn, role) as connection:
        connection.admin.alter_queue(queue, **options)
    output.said(f"queue {queue} altered: {', '.join(options)}", as_json=as_json, queue=queue, altered=options)


@app.command("list")
def list_(
    temporary: Annotated[bool, typer.Option("--temporary", help="Include temporary queues.")] = False,
    wide: Wide = False,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """List the queues."""
    with connected(dsn, role) as connection:
        rows = connection.admin.list_queues(temporary=temporary)
    if not as_json:
        rows = [{**row, "paused": _paused(row), "exception": _exception(row)} for row in rows]
    tables.show(rows, LIST_COLUMNS, as_json=as_json, empty="no queues", wide=wide)


@app.command()
def show(
    queue: Queue,
    changed: Annotated[
        bool, typer.Option("--changed", help="Show only options that differ from the queue's preset.")
    ] = False,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Show a queue and its options by subject. * marks options that differ from the queue's preset."""
    from ...engine.errors import NoSuchQueue

    with connected(dsn, role) as connection:
        rows = [row for row in connection.admin.list_queues() if row["queue"] == queue]
        if not rows:
            raise NoSuchQueue(f"there is no queue {queue!r}", "See howdah queue list.")
        options = connection.admin.queue_options(queue)
        defaults = connection.admin.default_options(options["preset"])
    if changed:
        options = {key: value for key, value in options.items() if key == "preset" or value != defaults.get(key)}
    if as_json:
        output.write(output.to_json(options if changed else {**rows[0], **options}))
        return
    # A value that is also an option is shown among the options, as set.
    about = {key: value for key, value in rows[0].items() if key not in defaults}
    output.write(page(about, options, defaults))


@app.command()
def stats(
    queue: OneQueue = None,
    watch: Annotated[bool, typer.Option("--watch", help="Show them anew again and again: q quits, p pauses.")] = False,
    every: live.Every = 2,
    wide: Wide = False,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Show how many messages the queues hold and what became of the others."""
    if watch and (as_json or not live.is_possible()):
        raise typer.BadParameter("it needs a terminal, and no --json", param_hint="--watch")
    with connected(dsn, role) as connection:
        if watch:
            live.watch(lambda: _stats(connection, queue), lambda rows, *place: _watched(rows, *place, wide=wide), every)
            return
        rows = connection.admin.queue_stats(queue) if as_json else _stats(connection, queue)
    tables.show(rows, STATS_COLUMNS, as_json=as_json, empty="no queues", wide=wide)


def _stats(connection: Connection, queue: str | None) -> list[dict[str, Any]]:
    return [{**row, "counted": _counted(row)} for row in connection.admin.queue_stats(queue)]


def _watched(rows: list[dict[str, Any]], width: int, height: int, paused: bool, *, wide: bool) -> str:
    """Return the table in the terminal's lines: titles, what is left out and the keys take five of them."""
    room = max(height - 5, 1)
    table = tables.picture(rows[:room], STATS_COLUMNS, None if wide else width, wide=wide)[0] if rows else "no queues"
    left_out = f"and {output.counted(len(rows) - room, 'more queue')}\n" if len(rows) > room else ""
    return f"{table}\n{left_out}\n{live.keys(paused)}"


def _counted(row: dict[str, Any]) -> str:
    if row["exact"]:
        return "now"
    return f"{output.cell(row['figures_age'])} ago" if row["figures_age"] else "estimated"


app.command()(purge)
app.command()(move)
app.command()(delayed)
app.command()(limits)


@app.command()
def drop(
    queue: Queue,
    force: Annotated[
        bool, typer.Option("--force", help="Drop the queue even if it holds messages; discards them.")
    ] = False,
    yes: Yes = False,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Drop a queue. A queue that holds messages needs --force."""
    with connected(dsn, role) as connection:
        confirm(f"Drop {output.printable(queue)}{' and all its messages' if force else ''} for good?", yes=yes)
        discarded = connection.admin.drop_queue(queue, force=force)
    text = f"queue {queue} dropped" + (f", {output.counted(discarded, 'message')} discarded" if discarded else "")
    output.said(text, as_json=as_json, queue=queue, discarded=discarded)


@app.command()
def pause(
    queue: Queue,
    sending: Sending = False,
    receiving: Receiving = False,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Refuse sending, receiving or both until the queue is resumed."""
    _switch("pause", queue, _sides(sending, receiving), dsn, role, as_json)


@app.command()
def resume(
    queue: Queue,
    sending: Sending = False,
    receiving: Receiving = False,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Allow sending, receiving or both again."""
    _switch("resume", queue, _sides(sending, receiving), dsn, role, as_json)


app.command("browse")(receive.browse)
app.command("find")(find)
app.command("act")(act)


def _switch(verb: str, queue: str, sides: dict[str, bool], dsn: str | None, role: str | None, as_json: bool) -> None:
    with connected(dsn, role) as connection:
        getattr(connection.admin, verb)(queue, **sides)
    output.said(f"{queue}: {_words(sides)} {verb}d", as_json=as_json, queue=queue, **{f"{verb}d": sides})


def _sides(sending: bool, receiving: bool) -> dict[str, bool]:
    both = sending == receiving
    return {"sending": sending or both, "receiving": receiving or both}


def _words(sides: dict[str, bool]) -> str:
    return " and ".join(side for side, meant in sides.items() if meant)


def _paused(row: dict[str, Any]) -> str:
    both = row["sending_paused"] and row["receiving_paused"]
    return "both" if both else _words({"sending": row["sending_paused"], "receiving": row["receiving_paused"]})


def _exception(row: dict[str, Any]) -> str:
    # None: a message at its limit stays and is retried later.
    return str({"system": "the system's", "none": "(they stay)"}.get(row["exception_mode"], row["exception_queue"]))
