# Written by tools/make_sync.py from engine/aio/copying.py: change that, and run make sync.
"""Load by COPY: rows go to the server as they come, and one call sends all of them or none.

The server stores the rows twice for a while, in a temporary table and as messages. In return, no row waits for an
answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import psycopg
from psycopg import sql

from ..calls import Call, Seconds, interval, scalar
from ..calls.bodies import Body, encode, to_json
from ..calls.options import SharedOptions
from ..calls.stamps import Every
from ..errors import BadArgument, translated
from .stream import SHARED, whole

TYPES = {
    "headers": "jsonb",
    "priority": "int4",
    "correlation_id": "text",
    "message_type": "text",
    "conversation_id": "uuid",
    "deduplication_key": "text",
}
"""Columns that may stand beside the body, and their types."""


def send_copy(
    connection: psycopg.Connection[Any],
    queue: str,
    rows: Iterable[Any],
    columns: Sequence[str],
    options: SharedOptions,
    every: Every | None = None,
) -> int:
    """Send every row in the connection's transaction. Returns how many. After an error, none of them is sent.

    Without columns a row is a body; with them it is a sequence: the body and what the columns name.
    every: what each message gets besides. Raises BadArgument for an unknown column or option, and for bodies of several
    kinds.
    """
    if unknown := sorted({*columns} - TYPES.keys()):
        raise BadArgument(f"{unknown[0]} is not a column of a load", f"Known are: {', '.join(TYPES)}.")
    if unknown := sorted(options.keys() - SHARED):
        raise BadArgument(f"{unknown[0]} is not an option of a load", f"Known are: {', '.join(sorted(SHARED))}.")
    every = every or Every()
    source, columns = _with(every, iter(rows if columns else ((body,) for body in rows)), columns)
    first = next(source, None)
    kind, _, needed = encode(first[0] if first is not None else "")
    begin, send = scalar("begin_copy", body_type=("text", kind)), _send(queue, needed, every.notify, **options)
    copying = sql.SQL("copy pg_temp.howdah_copy ({}) from stdin (format binary)").format(
        sql.SQL(", ").join(map(sql.Identifier, ["body", *columns]))
    )
    with translated():
        types = [kind, *(TYPES[name] for name in columns)]
        stamps: dict[str, Any] = {}
        encoded = _encoded(chain([first] if first is not None else [], source), kind, columns, stamps)
        asked = every.stamps.on_send.removeprefix(", ")
        stamp = f"select howdah.stamp_headers({asked})" if asked else None
        return _load(connection, begin, copying, types, encoded, send, (stamp, stamps))


def _with(every: Every, rows: Iterator[Any], columns: Sequence[str]) -> tuple[Iterator[Any], Sequence[str]]:
    """The rows and columns of a load with what each message gets besides; headers are stamped later."""
    added = [name for name in ("headers",) if every.stamps.on_send and name not in columns]
    if every.priority is None:
        return ((*row, *([None] * len(added))) for row in rows) if added else rows, [*columns, *added]
    place = columns.index("priority") + 1 if "priority" in columns else None
    if place is None:
        values = [*([None] * len(added)), every.priority]
        return ((*row, *values) for row in rows), [*columns, *added, "priority"]
    changed = ((*row[:place], every.priority, *row[place + 1 :], *([None] * len(added))) for row in rows)
    return changed, [*columns, *added]


def _load(
    connection: psycopg.Connection[Any],
    begin: Call[Any],
    copying: sql.Composed,
    types: list[str],
    rows: Iterator[Sequence[Any]],
    send: Call[Any],
    stamping: tuple[str | None, dict[str, Any]],
) -> int:
    with whole(connection), psycopg.Cursor(connection) as cursor:
        stamp, stamps = stamping
        if stamp is not None:
            cursor.execute(stamp.encode())
            stamps.update((cursor.fetchall())[0][0])
        cursor.execute(begin.sql, begin.arguments)
        with cursor.copy(copying) as copy:
            copy.set_types(types)
            for row in rows:
                try:
                    copy.write_row(row)
                except (TypeError, ValueError) as error:
                    raise BadArgument(f"a value does not fit its column of the load: {error}") from error
        cursor.execute(send.sql, send.arguments)
        return int(send.decode(cursor.fetchall()))


def _send(
    queue: str,
    needed: str | None,
    notify: bool,
    *,
    reply_to: str | None = None,
    time_to_live: Seconds | None = None,
    delay: Seconds | None = None,
    delivery_mode: str | None = None,
    reliability: str | None = None,
    content_type: str | None = None,
) -> Call[Any]:
    return scalar(
        "send_copied",
        queue=("text", queue),
        reply_to=("text", reply_to),
        time_to_live=("interval", interval("time_to_live", time_to_live)),
        delay=("interval", interval("delay", delay)),
        delivery_mode=("text", delivery_mode),
        reliability=("text", reliability),
        content_type=("text", content_type or needed),
        notify=("boolean", None if notify else False),
    )


def _encoded(
    rows: Iterable[Sequence[Any]], kind: str, columns: Sequence[str], stamps: dict[str, Any]
) -> Iterator[Sequence[Any]]:
    """Yield the rows as the driver takes them. Plain strings pass unchanged. stamps: over the headers of each."""
    jsons = [number for number, name in enumerate(columns, 1) if name == "headers"]
    for row in rows:
        body: Body = row[0]
        if kind == "text" and type(body) is str and not jsons:
            yield row
            continue
        found, value, _ = encode(body)
        if found != kind:
            raise BadArgument(f"the bodies of one load must be of one kind, not {found} and {kind}")
        values = [value, *row[1:]]
        for number in jsons:
            headers = values[number]
            if stamps:
                headers = {**(headers or {}), **stamps}
            values[number] = None if headers is None else to_json(headers)
        yield values
