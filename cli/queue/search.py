"""The commands of howdah queue that find messages and deal with all that match."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from .. import output, tables, times
from ..common import Dsn, Json, Queue, Role, Wide, Yes, confirm, connected, words

if TYPE_CHECKING:
    from ...engine import Admin
    from ...engine.calls.search import Act, ActOptions, Counted, Filter

FOUND_COLUMNS = tables.Columns(
    {"message_id": "message", "state": "state", "priority": "priority", "sent_at": "sent", "body": "body"},
    {"message_group": "group", "attempts": "failures", "headers": "headers", "body_type": "type"},
    cut=frozenset({"body"}),
)

Selector = Annotated[str | None, typer.Option("--selector", metavar="SELECTOR", help="Only those that it selects.")]
Header = Annotated[
    list[str] | None, typer.Option("--header", metavar="NAME=VALUE", help="Only with this header. May be repeated.")
]
Body = Annotated[str | None, typer.Option("--body", metavar="TEXT", help="Only with this text in the redacted body.")]
State = Annotated[
    str | None,
    typer.Option("--state", metavar="STATE", help="Only ready, delayed, leased, parked, dead or expired ones."),
]
Priority = Annotated[int | None, typer.Option("--min-priority", min=0, max=9, help="Only from this priority on.")]
Group = Annotated[str | None, typer.Option("--group", metavar="GROUP", help="Only of this message group.")]
After = Annotated[
    str | None, typer.Option("--sent-after", metavar="TIME", help="Only sent at this time (or 12h ago) or later.")
]
Before = Annotated[
    str | None, typer.Option("--sent-before", metavar="TIME", help="Only sent before this time, or 12h ago.")
]
Cause = Annotated[
    str | None,
    typer.Option("--cause", metavar="FINGERPRINT", help="Only messages whose last failure has this fingerprint."),
]
ErrorClass = Annotated[
    str | None, typer.Option("--class", metavar="CLASS", help="Only messages whose last error has this class.")
]
Origin = Annotated[str | None, typer.Option("--origin", metavar="QUEUE", help="Only dead ones from this queue.")]


def find(
    queue: Queue,
    selector: Selector = None,
    header: Header = None,
    body: Body = None,
    state: State = None,
    min_priority: Priority = None,
    group: Group = None,
    sent_after: After = None,
    sent_before: Before = None,
    cause: Cause = None,
    error_class: ErrorClass = None,
    origin: Origin = None,
    number: Annotated[int, typer.Option("--number", "-n", min=1, max=1000, help="Maximum number of messages.")] = 50,
    wide: Wide = False,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Find messages without disturbing anyone. Says on stderr if it did not look at all of them."""
    given = locals()
    with connected(dsn, role) as connection:
        which = _filter(given, connection.admin)
        page = connection.admin.find_messages(queue, which, max_rows=number)
    empty = f"nothing matches among {output.counted(page.looked, 'message')} of {output.printable(queue)}"
    rows = [{key: value for key, value in row.items() if key != "cursor"} for row in page.rows]
    tables.show(rows, FOUND_COLUMNS, as_json=as_json, empty=empty, wide=wide)
    if not page.complete:
        typer.echo(f"howdah: looked at {output.counted(page.looked, 'message')}; there are more", err=True)


def act(
    queue: Queue,
    act: Annotated[
        str, typer.Argument(metavar="ACT", help="retry, replay, move, park or discard.", show_default=False)
    ],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why. It goes on record.")],
    selector: Selector = None,
    header: Header = None,
    body: Body = None,
    state: State = None,
    min_priority: Priority = None,
    group: Group = None,
    sent_after: After = None,
    sent_before: Before = None,
    cause: Cause = None,
    error_class: ErrorClass = None,
    origin: Origin = None,
    target: Annotated[str | None, typer.Option("--target", metavar="QUEUE", help="Where to move or replay.")] = None,
    length: Annotated[float | None, times.length("--for", help="How long to park: 30m, 12h, 7d, …")] = None,
    batch: Annotated[int, typer.Option("--batch", min=1, max=10000, help="Messages for each transaction.")] = 1000,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say how many match.")] = False,
    yes: Yes = False,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Deal with all messages that match, in batches with their own transactions. Messages in hand are left."""
    given = locals()
    with connected(dsn, role) as connection:
        which = _filter(given, connection.admin)
        if dry_run:
            count = connection.admin.count_matching(queue, which)
            output.said(_counted(count), as_json=as_json, queue=queue, matching=count.matching, complete=count.complete)
            return
        if act in ("discard", "move", "replay"):
            count = connection.admin.count_matching(queue, which)
            confirm(f"{_counted(count)} in {output.printable(queue)}. {act.capitalize()} all that match?", yes=yes)
        options: ActOptions = {"target": target, "delay": None if length is None else f"{length} seconds"}
        done, passed = _act_on_all(connection.admin, queue, cast("Act", act), which, reason, batch, options)
    text = f"{act}: {output.counted(done, 'message')} done, {passed} passed over"
    output.said(text, as_json=as_json, queue=queue, act=act, done=done, passed=passed)


def _act_on_all(
    admin: Admin, queue: str, act: Act, which: Filter, reason: str, batch: int, options: ActOptions
) -> tuple[int, int]:
    """Deal with all that match and return how many that were, and how many were passed over.

    Each batch is committed. So an error or Ctrl-C says what was done before it.
    """
    done, passed, cursor, complete = 0, 0, None, False
    try:
        while not complete:
            result = admin.act_on_matching(queue, act, which, reason=reason, batch_size=batch, after=cursor, **options)
            done, passed = done + result.done, passed + result.passed
            cursor, complete = result.cursor, result.complete
    except BaseException as error:
        from ...engine.errors import ConnectionLost

        unknown = isinstance(error, KeyboardInterrupt | ConnectionLost)  # it may have been committed all the same
        if done or unknown:
            more = f", and perhaps up to {batch} more done" if unknown else ""
            output.complain(
                f"stopped: {act}: {output.counted(done, 'message')} done before, {passed} passed over{more}"
            )
        raise
    return done, passed


def _counted(count: Counted) -> str:
    more = "" if count.complete else f" among the first {count.looked}"
    return f"{output.counted(count.matching, 'message')} match{'es' if count.matching == 1 else ''}{more}"


KEYS = ("selector", "body", "state", "min_priority", "group", "sent_after", "sent_before", "cause", "error_class")


def _filter(given: dict[str, Any], admin: Admin) -> Filter:
    """Return what was given of the options that choose messages, with ages by the database's clock."""
    which = {key: given[key] for key in (*KEYS, "origin") if given[key] is not None}
    for key, option in (("sent_after", "--sent-after"), ("sent_before", "--sent-before")):
        if (moment := times.moment(given[key], admin.now, option)) is not None:
            which[key] = moment.isoformat()
    if given["header"]:
        which["header"] = words(given["header"], "--header")
    return cast("Filter", which)
